// SPDX-License-Identifier: Apache-2.0

// Package artifact keeps the results of benchmarks in folders, and in buckets: one for
// each, with all that it takes to read it, to show it and to make it again.
package artifact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/internal/bench/report"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// The files of an artifact.
const (
	// ResultFile is the result, as JSON.
	ResultFile = "result.json"
	// BlocksFile is the table of all blocks, as CSV.
	BlocksFile = "blocks.csv"
	// FailuresFile is the table of why transfers failed, as CSV.
	FailuresFile = "failures.csv"
	// ReportFile is the page that shows the result.
	ReportFile = "report.html"
	// BenchmarkFile is the benchmark, defaults included: what makes another result.
	BenchmarkFile = "benchmark.yaml"
)

// Files are the files of an artifact, the result last: who finds it finds the others.
var Files = []string{BlocksFile, FailuresFile, ReportFile, BenchmarkFile, ResultFile}

// Lacking says whether an artifact may be without a file: those of before are.
func Lacking(file string) bool { return file == FailuresFile }

const (
	folderMode os.FileMode = 0o755
	fileMode   os.FileMode = 0o644
)

// Make makes the folder of an artifact. One that has something in it is left
// alone.
func Make(folder string) error {
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: remove what an earlier run left there, or name another folder", folder)
	}
	return nil
}

// Write writes the files of an artifact, each whole or not at all.
func Write(folder string, made *result.Result) error {
	if err := writeShown(folder, made); err != nil {
		return err
	}
	encoded, err := result.Encode(made)
	if err != nil {
		return err
	}
	return writeKept(folder, encoded)
}

// writeShown writes the files that people read, one after the other: those of long runs are
// large.
func writeShown(folder string, made *result.Result) error {
	for _, shown := range []struct {
		file  string
		write func(out io.Writer) error
	}{
		{BlocksFile, made.WriteBlocks},
		{FailuresFile, made.WriteFailures},
		{ReportFile, func(out io.Writer) error { return report.Write(out, made) }},
	} {
		var content bytes.Buffer
		if err := shown.write(&content); err != nil {
			return err
		}
		if err := wholefile.Write(filepath.Join(folder, shown.file), content.Bytes(), fileMode); err != nil {
			return err
		}
	}
	return nil
}

// writeKept writes a result that is encoded, and what makes it again. What a newer program
// knows of it stays in both.
func writeKept(folder string, encoded []byte) error {
	benchmark, err := benchmarkOf(encoded)
	if err != nil {
		return err
	}
	if err := wholefile.Write(filepath.Join(folder, BenchmarkFile), benchmark, fileMode); err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(folder, ResultFile), encoded, fileMode)
}

// benchmarkOf is the benchmark of an encoded result, as the file of one.
func benchmarkOf(encoded []byte) ([]byte, error) {
	var head struct {
		Benchmark json.RawMessage `json:"benchmark"`
	}
	if err := json.Unmarshal(encoded, &head); err != nil {
		return nil, fmt.Errorf("encode benchmark: %w", err)
	}
	benchmark, err := yaml.JSONToYAML(head.Benchmark)
	if err != nil {
		return nil, fmt.Errorf("encode benchmark: %w", err)
	}
	return benchmark, nil
}

// Read reads the result of an artifact: its folder, the file of the result, or the URL of
// its place in a bucket.
func Read(ctx context.Context, place string) (_ *result.Result, err error) {
	from, err := open(ctx, place)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	return read(ctx, from, ResultFile)
}

// read reads a result.
func read(ctx context.Context, from source, path string) (*result.Result, error) {
	content, err := from.read(ctx, path)
	if err != nil {
		return nil, err
	}
	made, err := result.Decode(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.name(path), err)
	}
	return made, nil
}

// Stored is a result and where it is.
type Stored struct {
	// Folder is the folder of the artifact, or its place in a bucket.
	Folder string
	Result *result.Result

	// within is where it is, in what was looked through.
	within string
}

// Find finds all artifacts below a folder, or the URL of a place in a bucket, the oldest
// first.
func Find(ctx context.Context, place string) (_ []Stored, err error) {
	from, err := open(ctx, place)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	return find(ctx, from)
}

func find(ctx context.Context, from source) ([]Stored, error) {
	paths, err := from.list(ctx)
	if err != nil {
		return nil, err
	}
	var found []Stored
	for _, file := range paths {
		if path.Base(file) != ResultFile {
			continue
		}
		made, err := read(ctx, from, file)
		if err != nil {
			return nil, err
		}
		within := path.Dir(file)
		found = append(found, Stored{Folder: from.name(within), Result: made, within: within})
	}
	if len(found) == 0 {
		return nil, errors.New("there is no " + ResultFile + " below " + from.name("."))
	}
	slices.SortStableFunc(found, func(a, b Stored) int {
		return cmp.Or(a.Result.StartedAt.Compare(b.Result.StartedAt), cmp.Compare(a.Folder, b.Folder))
	})
	return found, nil
}
