// SPDX-License-Identifier: Apache-2.0

package running

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/support"
)

// maxLogBytes is how much of the end of a log is collected.
const maxLogBytes = 16 << 20

// Collect fills a bundle with what is kept of a network and, if it runs, with
// what its validators say. Keys, tokens and states stay where they are.
func Collect(ctx context.Context, stateDir, network string, bundle *support.Bundle) error {
	dir := statedir.NetworkDir(filepath.Join(stateDir, network))
	if there, err := dir.Exists(); err != nil {
		return err
	} else if !there {
		return fmt.Errorf("there is no network %s in %s", network, stateDir)
	}
	names, err := os.ReadDir(dir.Nodes())
	if err != nil {
		return err
	}
	for _, name := range names {
		hideSecrets(dir.Node(name.Name()), bundle)
	}
	for _, path := range []string{dir.Manifest(), dir.Genesis(), dir.Peers(), dir.Runtime()} {
		if err := collectFile(bundle, filepath.Base(path), path); err != nil {
			return err
		}
	}
	for _, name := range names {
		node := dir.Node(name.Name())
		paths := []string{node.Config(), node.Log()}
		// A first run has no other before it.
		if _, err := os.Lstat(node.PreviousLog()); !errors.Is(err, os.ErrNotExist) {
			paths = append(paths, node.PreviousLog())
		}
		for _, path := range paths {
			if err := collectFile(bundle, filepath.Join("nodes", name.Name(), filepath.Base(path)), path); err != nil {
				return err
			}
		}
	}
	return collectAnswers(ctx, dir, bundle)
}

// hideSecrets hides what only the validator knows, should it be where it does not
// belong.
func hideSecrets(d statedir.NodeDir, bundle *support.Bundle) {
	for _, path := range []string{d.Key(), d.AdminToken()} {
		content, err := os.ReadFile(path)
		if err != nil {
			bundle.Miss(filepath.Base(path), fmt.Errorf("cannot be hidden elsewhere: %w", err))
			continue
		}
		bundle.Hide(string(content))
	}
}

// collectFile adds the end of a file. That there is none is no failure: a network
// that does not run has fewer.
func collectFile(bundle *support.Bundle, name, path string) error {
	content, err := readEnd(path)
	if err != nil {
		bundle.Miss(name, err)
		return nil
	}
	return bundle.Add(name, content)
}

// readEnd reads a file, or the end of a long one.
func readEnd(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(max(info.Size()-maxLogBytes, 0), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, maxLogBytes))
}

// collectAnswers adds the status and the metrics of every validator of a network
// that runs.
func collectAnswers(ctx context.Context, d statedir.NetworkDir, bundle *support.Bundle) error {
	current, err := d.Processes()
	if errors.Is(err, statedir.ErrNotRunning) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, validator := range current.Validators {
		if err := collectNode(ctx, bundle, filepath.Join("nodes", validator.Name), validator.HTTP); err != nil {
			return err
		}
	}
	return nil
}

func collectNode(ctx context.Context, bundle *support.Bundle, folder, address string) error {
	client := chain.NewClient(address, chain.Admin{})
	defer client.Close()
	for name, path := range map[string]string{"status.json": "/status", "metrics.txt": "/metrics"} {
		name = filepath.Join(folder, name)
		content, err := client.Raw(ctx, path)
		if err != nil {
			bundle.Miss(name, err)
			continue
		}
		if err := bundle.Add(name, content); err != nil {
			return err
		}
	}
	return nil
}
