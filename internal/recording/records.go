// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// schemaVersion is the version of a record's file.
const schemaVersion = 1

const fileMode os.FileMode = 0o644

// file is what is kept of one run.
type file struct {
	SchemaVersion int `json:"schemaVersion"`
	// BenchmarkUID is the very benchmark that the run is of.
	BenchmarkUID types.UID `json:"benchmarkUID"`
	NodeImage
	Run result.Run `json:"run"`
}

// NodeImage is what the nodes of a network were made of; empty is not known.
type NodeImage struct {
	Name string `json:"nodeImage,omitempty"`
	// ID is what the name came to on the machines of the nodes.
	ID string `json:"nodeImageID,omitempty"`
}

// String is the most that is known of the image.
func (i NodeImage) String() string {
	if i.ID == "" {
		return i.Name
	}
	return fmt.Sprintf("%s (%s)", i.Name, i.ID)
}

func pathOf(folder string, run bench.PlannedRun) string {
	return filepath.Join(folder, run.Key()+".json")
}

// Write keeps the record of a run, whole or not at all. One that is there already stays:
// no run is made twice.
func Write(folder string, benchmark types.UID, image NodeImage, recorded *result.Run) error {
	content, err := json.Marshal(&file{SchemaVersion: schemaVersion, BenchmarkUID: benchmark, NodeImage: image, Run: *recorded})
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	run := bench.PlannedRun{VariantName: recorded.Variant, Repetition: recorded.Repetition}
	path := pathOf(folder, run)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keep record of %s: %s: %w", run, path, cmp.Or(err, os.ErrExist))
	}
	if err := wholefile.Write(path, content, fileMode); err != nil {
		return fmt.Errorf("keep record of %s: %w", run, err)
	}
	return nil
}

// Begin notes that a recorder begins a run. The error is that one did so before:
// whatever that has seen, this one has not.
func Begin(folder string, run bench.PlannedRun) error {
	out, err := os.OpenFile(filepath.Join(folder, run.Key()+".begun"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("another recorder began %s before this one, and ended", run)
	}
	if err != nil {
		return fmt.Errorf("note that %s begins: %w", run, err)
	}
	return errors.Join(out.Sync(), out.Close())
}

// Read reads the record of a run of a benchmark.
func Read(folder string, benchmark types.UID, run bench.PlannedRun) (recorded *result.Run, image NodeImage, err error) {
	content, err := os.ReadFile(pathOf(folder, run))
	if err != nil {
		return nil, NodeImage{}, fmt.Errorf("read record of %s: %w", run, err)
	}
	var read file
	if err := json.Unmarshal(content, &read); err != nil {
		return nil, NodeImage{}, fmt.Errorf("decode record of %s: %w", run, err)
	}
	switch {
	case read.SchemaVersion != schemaVersion:
		return nil, NodeImage{}, fmt.Errorf(
			"the record of %s has schema version %d, this program reads %d", run, read.SchemaVersion, schemaVersion)
	case read.BenchmarkUID != benchmark:
		return nil, NodeImage{}, fmt.Errorf("the record of %s is of the benchmark %s, and not of %s", run, read.BenchmarkUID, benchmark)
	case read.Run.Variant != run.VariantName || read.Run.Repetition != run.Repetition:
		return nil, NodeImage{}, fmt.Errorf("the record of %s is of another run", run)
	}
	return &read.Run, read.NodeImage, nil
}
