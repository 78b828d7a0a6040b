// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// root is the folder of the repository.
const root = "../.."

// goModule is the module that most of the Go is of.
const goModule = "github.com/shardyard/shardyard/"

// tree is what the repository has that calls commands.
type tree struct {
	reader
	// shell are the scripts of the shell by their paths, and scripts those of
	// Node.js.
	shell   map[string]*syntax.File
	scripts map[string][]byte
	// npm are the scripts of package.json.
	npm map[string]string
	// tools are the programs that hack/tool.sh builds, and whether with cgo.
	tools map[string]tool
	// own are other programs that are built or installed here.
	own map[string]bool
}

func readTree() (*tree, error) {
	t := &tree{
		reader:  reader{functions: functions{}, outer: values{}},
		shell:   map[string]*syntax.File{},
		scripts: map[string][]byte{},
		npm:     map[string]string{},
		tools:   map[string]tool{},
		own:     map[string]bool{},
	}
	err := filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || skipped(entry.Name()) || at == root+"/bin"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return t.add(at)
	})
	if err != nil {
		return nil, err
	}
	for _, file := range t.shell {
		t.functions.collect(file)
		t.outer.collect(file, nil)
	}
	return t, t.readTools()
}

// add takes a file up if it calls commands.
func (t *tree) add(at string) error {
	name, err := filepath.Rel(root, at)
	if err != nil {
		return err
	}
	switch ext := path.Ext(name); {
	case ext == ".mjs" || ext == ".js":
		t.scripts[name], err = os.ReadFile(at)
		return err
	case path.Base(name) == "package.json":
		return t.addPackage(at)
	case ext == ".sh" || ext == "":
		content, err := os.ReadFile(at)
		if err != nil || ext == "" && !bytes.HasPrefix(content, []byte("#!")) {
			return err
		}
		t.shell[name], err = parse(string(content), name)
		return err
	}
	return nil
}

// addPackage takes the scripts of a package.json up, and the programs that the
// packages beside it install.
func (t *tree) addPackage(at string) error {
	var declared struct {
		Scripts map[string]string
	}
	var locked struct {
		Packages map[string]struct {
			Bin any
		}
	}
	for file, into := range map[string]any{at: &declared, strings.TrimSuffix(at, ".json") + "-lock.json": &locked} {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(content, into); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for name, text := range declared.Scripts {
		t.npm[name] = text
	}
	for _, locked := range locked.Packages {
		if programs, ok := locked.Bin.(map[string]any); ok {
			for program := range programs {
				t.own[program] = true
			}
		}
	}
	return nil
}

// tool is how hack/tool.sh builds a program.
type tool struct {
	module, pkg, tags string
	cgo               bool
}

// readTools reads the cases of hack/tool.sh.
func (t *tree) readTools() error {
	syntax.Walk(t.shell["hack/tool.sh"], func(node syntax.Node) bool {
		item, ok := node.(*syntax.CaseItem)
		if !ok {
			return true
		}
		for _, pattern := range item.Patterns {
			for _, name := range (values{}).word(pattern, nil) {
				set := values{"name": {name}}
				for _, stmt := range item.Stmts {
					if made, ok := stmt.Cmd.(*syntax.CallExpr); ok {
						for _, assign := range made.Assigns {
							if assign.Value != nil {
								set.add(assign.Name.Value, set.word(assign.Value, nil))
							}
						}
					}
				}
				one := func(name, otherwise string) string { return strings.Join(append(set[name], otherwise)[:1], "") }
				module := strings.TrimPrefix(one("module", "hack/tools/"+name), unknown+"/")
				t.tools[name] = tool{module, one("package", ""), one("tags", ""), one("cgo", "0") == "1"}
			}
		}
		return true
	})
	if len(t.tools) == 0 {
		return errors.New("hack/tool.sh builds nothing")
	}
	return nil
}

// named are the scripts that a word may name.
func (t *tree) named(word string) []string {
	_, word = cutLast(word, unknown)
	word = strings.TrimPrefix(path.Clean("/"+word), "/")
	if !slices.Contains([]string{".sh", ".mjs", ".js"}, path.Ext(word)) {
		return nil
	}
	var found []string
	for name := range t.shell {
		if name == word || strings.HasSuffix(name, "/"+word) {
			found = append(found, name)
		}
	}
	for name := range t.scripts {
		if name == word || strings.HasSuffix(name, "/"+word) {
			found = append(found, name)
		}
	}
	if slices.Contains(found, word) {
		return []string{word}
	}
	return found
}

func cutLast(text, separator string) (before, after string) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return "", text
	}
	return text[:at], text[at+len(separator):]
}

// nodeCommands are the commands that a script of Node.js runs.
var nodeCommands = regexp.MustCompile(`(?:executablePath: |(?:spawn|exec|execFile)(?:Sync)?\()['"]([^'"]+)['"]`)
