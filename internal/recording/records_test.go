// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/recording"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	planned := bench.PlannedRun{VariantName: "after", Repetition: 2}
	run := &result.Run{Variant: "after", Repetition: 2, Fault: "none", Blocks: []result.Block{{Height: 7, Executed: 9}}}
	if err := recording.Write(folder, "uid", recording.NodeImage{Name: "shardnode:1", ID: "sha256:1"}, run); err != nil {
		t.Fatal(err)
	}
	read, image, err := recording.Read(folder, "uid", planned)
	if err != nil || image.String() != "shardnode:1 (sha256:1)" || !reflect.DeepEqual(read, run) {
		t.Errorf("the record is %+v of %s, want %+v: %v", read, image, run, err)
	}

	// No run is made twice, and the record of another benchmark is none of this one.
	if err := recording.Write(folder, "uid", recording.NodeImage{}, &result.Run{Variant: "after", Repetition: 2}); err == nil {
		t.Error("a record was written over another")
	}
	if again, _, err := recording.Read(folder, "uid", planned); err != nil || again.Fault != "none" {
		t.Errorf("the record is %+v now: %v", again, err)
	}
	_, _, err = recording.Read(folder, "other", planned)
	checkError(t, err, "is of the benchmark uid, and not of other")
	_, _, err = recording.Read(folder, "uid", bench.PlannedRun{VariantName: "after", Repetition: 3})
	checkError(t, err, "read record of run 3 of after")
	if err := os.WriteFile(filepath.Join(folder, "run-1.json"), []byte(`{"schemaVersion": 1, "benchmark`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = recording.Read(folder, "uid", bench.PlannedRun{Repetition: 1})
	checkError(t, err, "decode record of run 1")
}

// smallFiles names a folder in which no file can be longer than 1 KiB.
const smallFiles = "SHARDYARD_TEST_SMALL_FILES"

// A record that could not be written whole is not there, and can be written later.
func TestRecordsThatDoNotFit(t *testing.T) {
	run := &result.Run{Repetition: 1, Blocks: make([]result.Block, 1000)}
	if folder := os.Getenv(smallFiles); folder != "" {
		checkError(t, recording.Write(folder, "uid", recording.NodeImage{}, run), "keep record of run 1")
		return
	}
	t.Parallel()
	folder := t.TempDir()
	limited := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 1 && exec "$0" -test.run '^TestRecordsThatDoNotFit$'`, os.Args[0])
	limited.Env = append(os.Environ(), smallFiles+"="+folder)
	if said, err := limited.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
	if err := recording.Write(folder, "uid", recording.NodeImage{}, run); err != nil {
		t.Error(err)
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want one that says %q", err, want)
	}
}
