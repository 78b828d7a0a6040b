// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// follows are the targets that have no set-up of their own, because they come
// after another one.
var follows = map[string]string{
	"cluster-down": "cluster-up",
	"cluster-load": "cluster-up",
	"kwok-down":    "kwok-up",
}

var targetPattern = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)

// targets are the targets of the Makefile.
func targets() ([]string, error) {
	content, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, found := range targetPattern.FindAllSubmatch(content, -1) {
		names = append(names, string(found[1]))
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// recipe is all that making a target runs, as make itself says.
func recipe(target string) (string, error) {
	command := exec.CommandContext(context.Background(), "make", "--dry-run", "--always-make", "--no-print-directory", target)
	command.Dir = root
	// Not those of the make that runs this test.
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "MAKE") || strings.HasPrefix(variable, "MFLAGS")
	})
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("make --dry-run %s: %w", target, err)
	}
	return string(output), nil
}

// ofTarget are the needs of a target. It is an error if it builds something
// before it has set up all that it sets up itself.
func (t *tree) ofTarget(target string) (*needs, error) {
	text, err := recipe(target)
	if err != nil {
		return nil, err
	}
	file, err := parse(text, "make "+target)
	if err != nil {
		return nil, err
	}
	found := t.newNeeds()
	begun := false
	for _, stmt := range file.Stmts {
		before := len(found.setups)
		if err := found.file(&syntax.File{Stmts: []*syntax.Stmt{stmt}}, "make "+target); err != nil {
			return nil, err
		}
		switch {
		case !isSetup(stmt):
			begun = true
		case begun && len(found.setups) > before:
			return nil, fmt.Errorf("make %s has begun when it runs the last of its set-ups %v: they are to come first",
				target, slices.Sorted(maps.Keys(found.setups)))
		}
	}
	return found, nil
}

// isSetup says whether a statement is a set-up.
func isSetup(stmt *syntax.Stmt) bool {
	made, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(made.Args) == 0 {
		return false
	}
	return slices.Contains([]string{setupScript, clusterScript}, made.Args[0].Lit())
}
