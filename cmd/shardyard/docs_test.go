// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command that is listed has a man page with its flags.
func TestManPages(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	shardyard(t, "docs", "man", folder)
	pages := 0
	var check func(command *cobra.Command)
	check = func(command *cobra.Command) {
		if !command.IsAvailableCommand() && command.HasParent() {
			return
		}
		name := strings.ReplaceAll(command.CommandPath(), " ", "-") + ".1"
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Error(err)
			return
		}
		pages++
		if !strings.Contains(string(content), `\fB-h\fP, \fB--help\fP`) {
			t.Errorf("%s has no flags", name)
		}
		for _, inner := range command.Commands() {
			check(inner)
		}
	}
	check(newRootCommand("shardyard"))
	if pages < 10 {
		t.Errorf("there are %d pages", pages)
	}
	if _, err := os.Stat(filepath.Join(folder, "shardyard-docs.1")); err == nil {
		t.Error("the command that writes the pages has one")
	}
}
