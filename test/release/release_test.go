// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// parts are all of a release that is not made of the node.
var parts = []string{"cli", "charts", "install", "changes"}

// Two releases of one commit have equal digests, wherever and whenever they are
// made, and who has only the release can check and use it.
func TestRelease(t *testing.T) {
	one, another := newCheckout(t, 0o022), newCheckout(t, 0o077)
	commit, version := one.git(t, "rev-parse", "HEAD"), one.version(t)
	if other := another.git(t, "rev-parse", "HEAD"); other != commit {
		t.Fatalf("the commits are %s and %s, want one", commit, other)
	}
	for _, made := range []checkout{one, another} {
		if _, err := made.release(t.Context(), append([]string{version}, parts...)...); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join(string(one), "dist", version)
	sums := read(t, filepath.Join(folder, "SHA256SUMS"))
	if other := read(t, filepath.Join(string(another), "dist", version, "SHA256SUMS")); other != sums {
		t.Errorf("one release is\n%s\nand another of the same commit\n%s", sums, other)
	}
	for _, name := range []string{
		"shardyard_linux_amd64.tar.gz", "shardyard-" + version + ".tgz", "testnet-" + version + ".tgz", "install.yaml", "CHANGELOG.md",
	} {
		if !strings.Contains(sums, "  "+name+"\n") {
			t.Errorf("SHA256SUMS does not name %s", name)
		}
	}
	run(t, folder, "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")

	t.Run("command line", func(t *testing.T) { checkCommandLine(t, folder, version, commit) })
	t.Run("charts", func(t *testing.T) { checkCharts(t, folder, version) })
	t.Run("charts in a registry", func(t *testing.T) { checkPush(t, folder, version) })
	t.Run("one file", func(t *testing.T) { checkInstall(t, filepath.Join(folder, "install.yaml"), version) })
	t.Run("refusals", func(t *testing.T) { checkRefusals(t, one, version) })
}

// checkCommandLine unpacks the command line and runs it by both of its names.
func checkCommandLine(t *testing.T, folder, version, commit string) {
	t.Helper()
	programs := t.TempDir()
	run(t, programs, "tar", "--extract", "--file", filepath.Join(folder, "shardyard_linux_amd64.tar.gz"))

	var built struct{ Version, Commit string }
	if err := json.Unmarshal([]byte(run(t, programs, "./shardyard", "version", "-o", "json")), &built); err != nil {
		t.Fatal(err)
	}
	if built.Version != version || built.Commit != commit {
		t.Errorf("the program says that it is %+v, want %s of %s", built, version, commit)
	}
	if help := run(t, programs, "./kubectl-shardyard", "--help"); !strings.Contains(help, "kubectl shardyard [command]") {
		t.Errorf("the plugin of kubectl shows the help\n%s", help)
	}
	for name, want := range map[string]string{
		"completions/shardyard.bash": "__start_shardyard", "completions/shardyard.fish": "complete -c shardyard",
		"completions/_shardyard": "#compdef shardyard", "man/man1/shardyard-up.1": "shardyard-up", "LICENSE": "Apache License",
		"kubectl_complete-shardyard": "__complete",
	} {
		if content := read(t, filepath.Join(programs, name)); !strings.Contains(content, want) {
			t.Errorf("%s does not say %s", name, want)
		}
	}
}

// checkCharts renders both packages.
func checkCharts(t *testing.T, folder, version string) {
	t.Helper()
	program := os.Getenv("HELM")
	if program == "" {
		t.Fatal("HELM is not set: make test-release sets it")
	}
	for chart, want := range map[string]string{
		"shardyard": "image: ghcr.io/shardyard/operator:" + version + "\n",
		"testnet":   "kind: ShardNetwork",
	} {
		rendered := run(t, folder, program, "template", "test", chart+"-"+version+".tgz")
		if !strings.Contains(rendered, want) {
			t.Errorf("%s renders no %s", chart, want)
		}
	}
}

// checkRefusals asks for what is no release of the commit.
func checkRefusals(t *testing.T, from checkout, version string) {
	t.Helper()
	refused := func(want string, args ...string) {
		t.Helper()
		output, err := from.release(t.Context(), args...)
		if err == nil || !strings.Contains(output, want) {
			t.Errorf("release.sh %v says %q (%v), want %q", args, output, err, want)
		}
	}
	before := read(t, filepath.Join(string(from), "dist", version, "SHA256SUMS"))
	refused(`VERSION is "", and the tree is of `+version, "")
	refused(`VERSION is "9.9.9", and the tree is of `+version, "9.9.9")
	refused(`no part of a release is named "none"`, version, "none")
	if err := os.WriteFile(filepath.Join(string(from), "more"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("the tree has changes that are in no commit", version, "changes")
	if after := read(t, filepath.Join(string(from), "dist", version, "SHA256SUMS")); after != before {
		t.Error("what was refused has changed the release")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// run runs a program in a folder and returns its standard output.
func run(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Stdout, command.Stderr = folder, &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, &stderr)
	}
	return stdout.String()
}
