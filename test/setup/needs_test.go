// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The scripts that are set-ups.
const (
	setupScript   = "hack/setup.sh"
	clusterScript = "hack/devcluster/setup.sh"
)

// needs are what something calls, and the set-ups that it runs.
type needs struct {
	tree *tree
	// commands have one place each that calls them.
	commands map[string]string
	// libraries are those that pkg-config is asked for.
	libraries map[string]string
	// built are the programs that it builds itself.
	built map[string]bool
	// setups are the set-ups that it runs, with their arguments, but for those
	// that only its Go runs: they come when it has been built.
	setups map[string]bool
	// bin are the files that it puts into the folder of programs.
	bin map[string]bool

	seen map[string]bool
	inGo int
}

func (t *tree) newNeeds() *needs {
	return &needs{
		tree: t, commands: map[string]string{}, libraries: map[string]string{}, built: map[string]bool{},
		setups: map[string]bool{}, bin: map[string]bool{}, seen: map[string]bool{},
	}
}

// calls adds a command, unless it is of this repository or of the shell itself.
func (n *needs) calls(name, where string) error {
	own, err := builtins()
	if err != nil {
		return err
	}
	_, function := n.tree.functions[name]
	_, tool := n.tree.tools[name]
	switch {
	case name == "", strings.Contains(name, unknown), function, tool, own[name], n.tree.own[name]:
	case strings.Contains(name, "/") && !path.IsAbs(name), strings.HasPrefix(name, "/no/such/"):
	default:
		if n.commands[name] == "" {
			n.commands[name] = where
		}
	}
	return nil
}

// text adds what a text of the shell calls.
func (n *needs) text(content, where string) error {
	file, err := parse(content, where)
	if err != nil {
		return err
	}
	return n.file(file, where)
}

func (n *needs) file(file *syntax.File, where string) error {
	calls, err := n.tree.read(file, path.Dir(where))
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	for _, made := range calls {
		if err := n.call(made, where); err != nil {
			return err
		}
	}
	return nil
}

// call adds a call, and what is behind it.
func (n *needs) call(made call, where string) error {
	for _, name := range made.words[0] {
		if err := n.calls(name, where); err != nil {
			return err
		}
	}
	if slices.Equal(made.assigned["CGO_ENABLED"], []string{"1"}) && made.is("go") {
		if err := n.calls("cc", where); err != nil {
			return err
		}
	}
	if err := n.words(made, where); err != nil {
		return err
	}
	switch {
	case made.is("go"):
		return n.goCommand(made, where)
	case made.is("cargo"):
		return n.cargo(made)
	case made.is("npm"):
		return n.npm(made)
	}
	return nil
}

// words adds what the words of a call name: scripts, and files of bin/.
func (n *needs) words(made call, where string) error {
	for i, word := range made.words {
		for _, value := range word {
			if name, found := strings.CutPrefix(value, "bin/"); found {
				n.bin[name] = true
			}
			for _, script := range n.tree.named(value) {
				// What a wrapper runs is a call of its own.
				if i > 0 && (script == setupScript || script == clusterScript) {
					continue
				}
				if err := n.script(script, made, where); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// script adds what a script calls.
func (n *needs) script(name string, made call, where string) error {
	switch name {
	case setupScript, clusterScript:
		// What these call themselves is found out by running them.
		if n.inGo == 0 {
			n.setups[setupLine(name, made)] = true
		}
		return nil
	case "hack/tool.sh":
		if err := n.tools(made, where); err != nil {
			return err
		}
	}
	if n.seen[name] {
		return nil
	}
	n.seen[name] = true
	if content, ok := n.tree.scripts[name]; ok {
		for _, command := range nodeCommands.FindAllSubmatch(content, -1) {
			if err := n.calls(string(command[1]), name); err != nil {
				return err
			}
		}
		return n.calls("node", name)
	}
	return n.file(n.tree.shell[name], name)
}

// setupLine is the command line of a set-up.
func setupLine(name string, made call) string {
	line := []string{name}
	for _, word := range made.words[1:] {
		line = append(line, word[0])
	}
	return strings.Join(line, " ")
}

// tools adds what building tools takes.
func (n *needs) tools(made call, where string) error {
	if len(made.words) < 2 {
		return nil
	}
	for _, name := range made.words[1] {
		tool, ok := n.tree.tools[name]
		if !ok || !tool.cgo {
			continue
		}
		if err := n.calls("cc", where); err != nil {
			return err
		}
		libraries, err := cgoLibraries(tool)
		if err != nil {
			return err
		}
		for _, library := range libraries {
			n.libraries[library] = "the tool " + name
			if err := n.calls("pkg-config", "the tool "+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// cgoLibraries are the libraries that a tool asks pkg-config for.
func cgoLibraries(t tool) ([]string, error) {
	list := exec.CommandContext(context.Background(), "go", "-C", filepath.Join(root, t.module), "list", "-deps", "-tags", t.tags,
		"-f", `{{range .CgoPkgConfig}}{{.}}{{"\n"}}{{end}}`, t.pkg)
	list.Env = append(os.Environ(), "CGO_ENABLED=1", "GOWORK=off", "GOFLAGS=-mod=readonly")
	list.Stderr = os.Stderr
	output, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list what %s is made of: %w", t.pkg, err)
	}
	libraries := strings.Fields(string(output))
	slices.Sort(libraries)
	return slices.Compact(libraries), nil
}

// goCommand adds what Go that is built, tested or run calls.
func (n *needs) goCommand(made call, where string) error {
	folder, words := []string{""}, made.words[1:]
	if len(words) > 1 && words[0][0] == "-C" {
		folder, words = words[1], words[2:]
	}
	if len(words) == 0 || !slices.Contains([]string{"build", "run", "test"}, words[0][0]) {
		return nil
	}
	tests := words[0][0] == "test"
	for i, word := range words[1:] {
		if word[0] == "-o" && len(words) > i+2 {
			for _, file := range words[i+2] {
				n.built[path.Base(file)] = true
			}
		}
		for _, value := range word {
			for _, from := range folder {
				if err := n.goPattern(from, value, tests, where); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// goPattern adds what the folders of a pattern of packages call. One that only a
// run can tell is of all packages that are no tests of whole systems.
func (n *needs) goPattern(from, pattern string, tests bool, where string) error {
	from = strings.TrimPrefix(from, unknown+"/")
	if pattern == unknown && tests {
		pattern = "./..."
	}
	at, below := strings.CutSuffix(pattern, "...")
	if strings.Contains(from+at, unknown) || !strings.HasPrefix(pattern, ".") {
		return nil
	}
	folders := []string{filepath.Join(root, from, at)}
	if below {
		var err error
		if folders, err = goFolders(folders[0]); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	for _, folder := range folders {
		name, err := filepath.Rel(root, folder)
		if err != nil {
			return err
		}
		if pattern == "./..." && strings.HasPrefix(name, "test/") && from == "" {
			continue
		}
		if err := n.goFolder(name, tests); err != nil {
			return err
		}
	}
	return nil
}

// goFolder adds what the Go of a folder calls, and what that imports.
func (n *needs) goFolder(name string, tests bool) error {
	key := fmt.Sprint(name, tests)
	if n.seen[key] {
		return nil
	}
	n.seen[key] = true
	n.inGo++
	defer func() { n.inGo-- }()
	found, err := readGo(filepath.Join(root, name), tests)
	if err != nil {
		return err
	}
	for _, command := range found.commands {
		if err := n.calls(command, name); err != nil {
			return err
		}
	}
	for _, text := range found.texts {
		for _, script := range n.tree.named(text) {
			// A name alone may be of another folder than the one that is meant.
			if folder := path.Dir(script); folder != name && !mentions(found.texts, folder) || n.seen[script] {
				continue
			}
			if err := n.script(script, call{words: [][]string{{script}}}, name); err != nil {
				return err
			}
		}
	}
	for _, imported := range found.imports {
		folder, own := strings.CutPrefix(imported, goModule)
		if _, err := os.Stat(filepath.Join(root, folder)); !own || err != nil {
			continue
		}
		if err := n.goFolder(folder, false); err != nil {
			return err
		}
	}
	return nil
}

// mentions says whether one of some texts is a folder.
func mentions(texts []string, folder string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.TrimPrefix(path.Clean("/"+text), "/") == folder || strings.HasSuffix(path.Clean(text), "/"+folder)
	})
}

// cargo adds what building Rust calls, and what its tests do.
func (n *needs) cargo(made call) error {
	var words []string
	for _, word := range made.words[1:] {
		words = append(words, word[0])
	}
	if !slices.ContainsFunc([]string{"build", "clippy", "doc", "test"}, func(subcommand string) bool {
		return slices.Contains(words, subcommand)
	}) {
		return nil
	}
	commands, err := crateCommands(root+"/node/Cargo.lock", strings.Join(words, " "))
	if err != nil {
		return err
	}
	for command, crates := range commands {
		if err := n.calls(command, crates[0]); err != nil {
			return err
		}
	}
	if !slices.Contains(words, "test") {
		return nil
	}
	tested, err := rustTestCommands(root + "/node")
	for _, command := range tested {
		if err := n.calls(command, "a test of the node"); err != nil {
			return err
		}
	}
	return err
}

// npm adds what a script of package.json calls.
func (n *needs) npm(made call) error {
	for _, word := range made.words[1:] {
		if text, ok := n.tree.npm[word[0]]; ok && made.words[1][0] == "run" {
			return n.text(text, "package.json")
		}
	}
	return nil
}
