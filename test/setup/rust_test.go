// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// builders are the crates that others build foreign code with, and what that
// calls.
var builders = map[string][]string{
	"autotools":   {"autoreconf", "make"},
	"bindgen":     {"clang"},
	"cc":          {"cc", "ar"},
	"clang-sys":   {"clang"},
	"cmake":       {"cmake", "make"},
	"nasm-rs":     {"nasm"},
	"pkg-config":  {"pkg-config"},
	"prost-build": {"protoc"},
}

// exceptions are the crates that do not use a builder that they declare, or use
// it otherwise.
var exceptions = map[string]struct {
	unused []string
	calls  []string
	// feature is the feature of this workspace without which the crate is left out.
	feature string
}{
	// Its sources are prepared for the platforms that this runs on, and it looks for one of the machine only when asked to.
	"aws-lc-sys": {unused: []string{"cmake", "pkg-config"}},
	// libFuzzer is C++.
	"libfuzzer-sys": {calls: []string{"c++"}, feature: "libfuzzer"},
	// Only to link a zstd of the machine, when asked to.
	"zstd-sys": {unused: []string{"pkg-config"}},
}

var (
	lockedName   = regexp.MustCompile(`(?m)^name = "(.*)"$`)
	lockedNeeds  = regexp.MustCompile(`(?ms)^dependencies = \[(.*?)^\]`)
	lockedNeed   = regexp.MustCompile(`"([^" ]+)[^"]*"`)
	rustCommands = regexp.MustCompile(`Command::new\("([^"]+)"\)`)
)

// crateCommands are the commands that building the crates of a Cargo.lock calls,
// each with the crates that call it; cc links every program.
func crateCommands(lock, features string) (map[string][]string, error) {
	content, err := os.ReadFile(lock)
	if err != nil {
		return nil, err
	}
	commands := map[string][]string{"cc": {"the linker"}}
	for _, locked := range bytes.Split(content, []byte("[[package]]\n"))[1:] {
		name := lockedName.FindSubmatch(locked)
		if name == nil {
			return nil, fmt.Errorf("%s: a package has no name", lock)
		}
		crate := string(name[1])
		exception := exceptions[crate]
		if exception.feature != "" && !strings.Contains(features, exception.feature) {
			continue
		}
		called := slices.Clone(exception.calls)
		if needs := lockedNeeds.FindSubmatch(locked); needs != nil {
			for _, need := range lockedNeed.FindAllSubmatch(needs[1], -1) {
				if builder := string(need[1]); !slices.Contains(exception.unused, builder) {
					called = append(called, builders[builder]...)
				}
			}
		}
		for _, command := range called {
			commands[command] = append(commands[command], "the crate "+crate)
		}
	}
	return commands, nil
}

// rustTestCommands are the commands that Rust files below a folder run.
func rustTestCommands(folder string) ([]string, error) {
	var commands []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(entry.Name()):
			return fs.SkipDir
		case filepath.Ext(path) != ".rs":
			return nil
		}
		content, err := os.ReadFile(path)
		for _, command := range rustCommands.FindAllSubmatch(content, -1) {
			commands = append(commands, string(command[1]))
		}
		return err
	})
	return commands, err
}
