// SPDX-License-Identifier: Apache-2.0

// Package artifact keeps the results of benchmarks in folders: one for each, with
// all that it takes to read it, to show it and to make it again.
package artifact

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/internal/bench/report"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// The files of an artifact.
const (
	// ResultFile is the result, as JSON.
	ResultFile = "result.json"
	// BlocksFile is the table of all blocks, as CSV.
	BlocksFile = "blocks.csv"
	// ReportFile is the page that shows the result.
	ReportFile = "report.html"
	// BenchmarkFile is the benchmark, defaults included: what makes another result.
	BenchmarkFile = "benchmark.yaml"
)

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
		return fmt.Errorf("%s is not empty", folder)
	}
	return nil
}

// Write writes the files of an artifact.
func Write(folder string, made *result.Result) error {
	encoded, err := result.Encode(made)
	if err != nil {
		return err
	}
	var blocks, page bytes.Buffer
	if err := made.WriteBlocks(&blocks); err != nil {
		return err
	}
	if err := report.Write(&page, made); err != nil {
		return err
	}
	benchmark, err := yaml.Marshal(&made.Benchmark)
	if err != nil {
		return fmt.Errorf("encode benchmark: %w", err)
	}
	// The result comes last: who finds it finds the others.
	for _, file := range []struct {
		name    string
		content []byte
	}{
		{BlocksFile, blocks.Bytes()},
		{ReportFile, page.Bytes()},
		{BenchmarkFile, benchmark},
		{ResultFile, encoded},
	} {
		if err := os.WriteFile(filepath.Join(folder, file.name), file.content, fileMode); err != nil {
			return err
		}
	}
	return nil
}

// Read reads the result of an artifact: its folder, or the file of the result.
func Read(path string) (*result.Result, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, ResultFile)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	made, err := result.Decode(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return made, nil
}

// Stored is a result and where it is.
type Stored struct {
	// Folder is the folder of the artifact.
	Folder string
	Result *result.Result
}

// Find finds all artifacts below a folder, the oldest first.
func Find(folder string) ([]Stored, error) {
	var found []Stored
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != ResultFile {
			return err
		}
		made, err := Read(path)
		if err != nil {
			return err
		}
		found = append(found, Stored{Folder: filepath.Dir(path), Result: made})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("there is no " + ResultFile + " below " + folder)
	}
	slices.SortStableFunc(found, func(a, b Stored) int {
		return cmp.Or(a.Result.StartedAt.Compare(b.Result.StartedAt), cmp.Compare(a.Folder, b.Folder))
	})
	return found, nil
}
