// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/verdict"
	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/usage"
)

const folderMode os.FileMode = 0o755

// Run runs a benchmark to its end. No process is left when it returns. The error
// is about what kept it from being run; what it came to is in the result.
func Run(ctx context.Context, options Options) (*result.Result, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	if options.Benchmark.Spec.Network.Name != "" {
		return options.runNamed(ctx)
	}
	variants := options.variants()
	made := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Benchmark:     *options.Benchmark,
		Command:       options.Command,
		Repeat:        options.Repeat,
		StartedAt:     time.Now().UTC(),
		Commit:        options.Commit,
		Environment:   usage.NewReader().Environment(options.Folder),
		NotApplied:    local.Inapplicable(variants[0].network),
		Seeds:         verdict.Seeds(variants[0].network.Spec.Genesis.Seed),
	}
	if err := options.describePrograms(made, variants); err != nil {
		return nil, err
	}
	if err := options.recordAll(ctx, made, func(
		ctx context.Context, run bench.PlannedRun, company *local.Company, progress io.Writer,
	) (*result.Run, error) {
		return options.record(ctx, run, &variants[run.Variant], company, progress)
	}); err != nil {
		return nil, err
	}
	return options.conclude(made), nil
}

// conclude says what the runs came to.
func (o *Options) conclude(made *result.Result) *result.Result {
	made.EndedAt = time.Now().UTC()
	verdict.Conclude(made, o.Baseline, o.BaselineName)
	return made
}

// record makes one run, side by side with its company if it has one. Its network is
// removed, unless it is to be kept; of a run that does not count, the logs stay.
func (o *Options) record(
	ctx context.Context, run bench.PlannedRun, variant *variant, company *local.Company, progress io.Writer,
) (*result.Run, error) {
	folder := filepath.Join(o.Folder, run.Key())
	if err := os.MkdirAll(o.Folder, folderMode); err != nil {
		return nil, err
	}
	// Another benchmark that was given the same folder has its network there.
	if err := os.Mkdir(folder, folderMode); err != nil {
		return nil, err
	}
	recorded, err := o.recordIn(ctx, folder, variant, company, run, progress)
	switch failed := err != nil || recorded.Fault != ""; {
	case o.Keep:
		return recorded, err
	case failed && ctx.Err() == nil:
		kept, keepErr := statedir.NetworkDir(filepath.Join(folder, variant.network.Name)).KeepLogs()
		err = errors.Join(err, keepErr)
		if kept {
			_, _ = fmt.Fprintf(progress, "what its nodes logged is in %s\n", folder)
			return recorded, err
		}
	}
	return recorded, errors.Join(err, os.RemoveAll(folder), removeEmpty(o.Folder))
}

// recordIn makes one run whose network is in a folder.
func (o *Options) recordIn(
	ctx context.Context, folder string, variant *variant, company *local.Company, run bench.PlannedRun, progress io.Writer,
) (*result.Run, error) {
	warmUp, duration := bench.Measured(&o.Benchmark.Spec)
	return local.Record(ctx, local.RecordOptions{
		Network:      variant.network,
		StateDir:     folder,
		Shardnode:    variant.shardnode,
		WarmUp:       warmUp,
		Duration:     duration,
		ReadyTimeout: o.ReadyTimeout,
		Company:      company,
		Profile:      o.profileOf(run),
		Progress:     progress,
	})
}

// removeEmpty removes a folder that nothing is in. Of runs side by side, the other one may
// have removed it.
func removeEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err == nil && len(entries) == 0 {
		err = os.Remove(folder)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// describePrograms says with what the result was made.
func (o *Options) describePrograms(made *result.Result, variants []variant) (err error) {
	if made.Shardyard, err = program(o.Shardyard); err != nil {
		return err
	}
	for i := range variants {
		shardnode, err := program(variants[i].shardnode)
		if err != nil {
			return err
		}
		made.Variants = append(made.Variants, result.Variant{
			Name: variants[i].name, Shardnode: shardnode, Network: variants[i].network.Spec,
		})
	}
	return nil
}

func program(path string) (result.Program, error) {
	file, err := os.Open(path)
	if err != nil {
		return result.Program{}, err
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return result.Program{}, fmt.Errorf("read %s: %w", path, err)
	}
	return result.Program{Path: path, SHA256: hex.EncodeToString(digest.Sum(nil))}, nil
}
