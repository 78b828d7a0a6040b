// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/waiting"
)

// What loaders say of their users is what the blocks say, and opens in a browser.
func TestBenchRunOfUsers(t *testing.T) {
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "users")
	stdout, code := shardyard(t, "bench", "run", "-f", "testdata/users.yaml", "--artifact", folder, "--shardnode", programs.shardnode,
		"--profile", "Allocations")
	if code != 0 {
		t.Fatalf("exits with %d and says\n%s", code, stdout)
	}
	made, err := artifact.Read(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	clients := made.Runs[0].OpenLoop
	if clients == nil || len(clients.Steps) != 2 || clients.KneeUsers != 40 {
		t.Fatalf("the users came to %+v", clients)
	}
	for i := range clients.Steps {
		checkStep(t, &clients.Steps[i])
	}
	checkProfile(t, folder, &made.Runs[0], result.Profile{
		Kind: "Allocations", Taken: result.ProfileDuring,
		Files: []string{"profiles/run-1.pb.gz", "profiles/run-1.html", "profiles/run-1-objects.html"},
	}, 5*time.Second, "users-s0-p0", "users-s1-p0", "users-r0")
	checkReport(t, filepath.Join(folder, artifact.ReportFile), "light")
	if stdout, code := shardyard(t, "report", "show", folder); code != 0 || !strings.Contains(stdout, "OFFERED/S") {
		t.Errorf("report show exits with %d and prints\n%s", code, stdout)
	}
}

// checkStep wants all that a loader tells to have arrived, and blocks to agree.
func checkStep(t *testing.T, step *result.OpenLoopStep) {
	t.Helper()
	transfers := &step.Transfers
	// Seven seconds of one transfer a second of each user.
	if want := 7 * uint64(step.Users); transfers.Offered != want || transfers.Sent != want || transfers.Accepted < want*9/10 {
		t.Errorf("the transfers of %d users are %+v, want %d of them", step.Users, transfers, want)
	}
	if step.ExecutedInBlocks == nil || *step.ExecutedInBlocks != transfers.Executed {
		t.Errorf("of %d users, %d are executed, and %v in blocks", step.Users, transfers.Executed, step.ExecutedInBlocks)
	}
	if step.Saturation.Cores == 0 || step.Saturation.CPUSeconds <= 0 || step.Saturation.ScheduleLagMs.Count == 0 {
		t.Errorf("the loader of %d users says %+v of itself", step.Users, step.Saturation)
	}
	checkTimes(t, step)
}

// checkTimes wants rates and latencies to be known.
func checkTimes(t *testing.T, step *result.OpenLoopStep) {
	t.Helper()
	if step.OfferedPerSecond != float64(step.Users) || step.AcceptedPerSecond <= 0 || step.ToldPerSecond <= 0 {
		t.Errorf("the rates of %d users are %+v", step.Users, step)
	}
	if step.ExecutedPerSecond == nil || *step.ExecutedPerSecond <= 0 {
		t.Errorf("blocks say %v of %d users", step.ExecutedPerSecond, step.Users)
	}
	if step.AcceptedMs.Count == 0 || step.ExecutedMs.P50 <= step.AcceptedMs.P50 || step.ExecutedMs.P99 < step.ExecutedMs.P50 {
		t.Errorf("the latencies of %d users are %+v and %+v", step.Users, step.AcceptedMs, step.ExecutedMs)
	}
}

// When the command line itself is killed, no loader outlives it.
func TestKilledRunnerOfUsers(t *testing.T) {
	t.Parallel()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	command := exec.CommandContext(ctx, programs.shardyard, "bench", "run", "-f", "testdata/users.yaml",
		"--artifact", filepath.Join(folder, "killed"), "--shardnode", programs.shardnode)
	var progress output.Buffer
	command.Stdout, command.Stderr = &progress, &progress
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it said\n%s", &progress)
		}
	})
	loader := 0
	waiting.Until(t, "there is a loader", func() bool {
		loader = loaderOf(folder)
		return loader != 0
	})
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	waiting.Until(t, "the loader ends", func() bool { return gone(loader) })
}

// loaderOf is the process of a loader that writes below a folder; 0 if there is none.
func loaderOf(folder string) int {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(content), "\x00load\x00") || !strings.Contains(string(content), folder) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && syscall.Kill(pid, 0) == nil {
			return pid
		}
	}
	return 0
}
