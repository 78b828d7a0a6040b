// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const root = "../.."

// checkout is a repository of its own that holds this tree as it stands, in one
// commit.
type checkout string

// newCheckout copies the tree and commits it. All of them are of the same
// commit; their files have the modes that the mask leaves them, and other times.
func newCheckout(t *testing.T, mask os.FileMode) checkout {
	t.Helper()
	made := checkout(t.TempDir())
	listed, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z",
		"--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("list the files of the tree: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		if err := made.add(name, mask); err != nil {
			t.Fatal(err)
		}
	}
	made.git(t, "init", "--quiet")
	made.git(t, "add", "--all")
	made.git(t, "commit", "--quiet", "--message", "release: a tree")
	return made
}

// add copies a file of the tree. One that was removed and not yet committed is
// not there.
func (c checkout) add(name string, mask os.FileMode) error {
	info, err := os.Lstat(filepath.Join(root, name))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return err
	}
	path := filepath.Join(string(c), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777&^mask); err != nil {
		return err
	}
	// git knows of a mode only whether the file is a program.
	mode := os.FileMode(0o666)
	if info.Mode().Perm()&0o100 != 0 {
		mode = 0o777
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode&^mask)
}

// git runs git as nobody in particular, at one time.
func (c checkout) git(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-C", string(c)}, args...)...)
	const at = "2026-01-02T03:04:05Z"
	command.Env = append(os.Environ(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at,
		"GIT_AUTHOR_NAME=nobody", "GIT_AUTHOR_EMAIL=nobody@example.org",
		"GIT_COMMITTER_NAME=nobody", "GIT_COMMITTER_EMAIL=nobody@example.org")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, output)
	}
	return strings.TrimSpace(string(output))
}

// release runs the script and returns what it prints, of which the last line is
// the folder of the release.
func (c checkout) release(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, filepath.Join(string(c), "hack", "release.sh"), args...)
	command.Env = append(os.Environ(), "PLATFORMS=linux/amd64")
	// What it started goes on no longer than the test.
	command.WaitDelay = time.Minute
	output, err := command.CombinedOutput()
	if err != nil {
		return string(output), fmt.Errorf("release.sh %v: %w\n%s", args, err, output)
	}
	return string(output), nil
}

// version is the version of the tree.
func (c checkout) version(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(string(c), "charts", "shardyard", "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "version: "); ok {
			return version
		}
	}
	t.Fatal("the chart has no version")
	return ""
}
