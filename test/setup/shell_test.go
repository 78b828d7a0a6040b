// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// call is a command that a script runs: what each of its words may be, the name
// first, and the variables that are set for it alone.
type call struct {
	words    [][]string
	assigned map[string][]string
}

// is says whether a call may be one of a command.
func (c call) is(name string) bool { return slices.Contains(c.words[0], name) }

// wrapper is a command that runs another one.
type wrapper struct {
	// valued are the options that have a value as their next word.
	valued []string
	// operands is how many other words come before the command.
	operands int
}

var wrappers = map[string]wrapper{
	"builtin": {},
	"chroot":  {operands: 1},
	"command": {},
	"env":     {valued: []string{"-u", "-C"}},
	"exec":    {valued: []string{"-a"}},
	"flock":   {operands: 1},
	"nice":    {valued: []string{"-n"}},
	"nohup":   {},
	"nsenter": {valued: []string{"--target", "-t"}},
	"setpriv": {valued: []string{"--pdeathsig"}},
	"setsid":  {},
	"timeout": {operands: 1},
	"unshare": {},
	"xargs":   {valued: []string{"-I", "-L", "-P", "-n"}},
}

var (
	assignment  = regexp.MustCompile(`^[A-Za-z_]\w*=`)
	scriptFlags = regexp.MustCompile(`^-[a-z]*c$`)
)

// parse reads a text of the shell.
func parse(text, name string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), name)
}

// functions are the functions of scripts, and for those that run what they are
// told, after how many other arguments the command comes.
type functions map[string][]int

func (f functions) collect(file *syntax.File) {
	syntax.Walk(file, func(node syntax.Node) bool {
		if declared, ok := node.(*syntax.FuncDecl); ok {
			f[declared.Name.Value] = append(f[declared.Name.Value], passes(declared)...)
		}
		return true
	})
}

// passes says after how many arguments a function's command comes, if it runs
// what it is told: as many as it shifts away first.
func passes(function *syntax.FuncDecl) []int {
	shifted, runs := 0, false
	syntax.Walk(function.Body, func(node syntax.Node) bool {
		expression, ok := node.(*syntax.CallExpr)
		if !ok || len(expression.Args) == 0 {
			return true
		}
		words := make([][]string, len(expression.Args))
		for i, word := range expression.Args {
			words[i] = values{"@": {"$@"}}.word(word, nil)
		}
		if words[0][0] == "shift" {
			by := 1
			if len(words) > 1 {
				by, _ = strconv.Atoi(words[1][0])
			}
			shifted += by
		}
		for inner := words; len(inner) > 0; inner = wrapped(inner) {
			runs = runs || inner[0][0] == "$@"
		}
		return true
	})
	if !runs {
		return nil
	}
	return []int{shifted}
}

// wrapped are the words of the command that a wrapper runs.
func wrapped(words [][]string) [][]string {
	name := words[0][0]
	if name == "ip" {
		for i := 1; i+2 < len(words); i++ {
			if words[i][0] == "netns" && words[i+1][0] == "exec" {
				return words[i+3:]
			}
		}
		return nil
	}
	wrapper, ok := wrappers[name]
	if !ok {
		return nil
	}
	if name == "command" && len(words) > 1 && slices.Contains([]string{"-v", "-V"}, words[1][0]) {
		return nil
	}
	at := 1
	for at < len(words) && (strings.HasPrefix(words[at][0], "-") || name == "env" && assignment.MatchString(words[at][0])) {
		option := words[at][0]
		at++
		if option == "--" {
			break
		}
		if slices.Contains(wrapper.valued, option) {
			at++
		}
	}
	return words[min(at+wrapper.operands, len(words)):]
}

// reader reads scripts that share functions and variables.
type reader struct {
	functions functions
	outer     values
}

// read finds the calls of a script of a folder, those included that other calls
// make.
func (r reader) read(file *syntax.File, folder string) ([]call, error) {
	known := values{here: {folder}}
	known.collect(file, r.outer)
	var found []call
	var failed error
	syntax.Walk(file, func(node syntax.Node) bool {
		expression, ok := node.(*syntax.CallExpr)
		if !ok || len(expression.Args) == 0 {
			return true
		}
		made := call{assigned: map[string][]string{}}
		for _, word := range expression.Args {
			made.words = append(made.words, known.word(word, r.outer))
		}
		for _, assign := range expression.Assigns {
			if assign.Value != nil {
				made.assigned[assign.Name.Value] = known.word(assign.Value, r.outer)
			}
		}
		if err := r.follow(made, &found); err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", expression.Pos(), err)
		}
		return true
	})
	return found, failed
}

// follow adds a call and those that it makes.
func (r reader) follow(made call, found *[]call) error {
	if len(made.words) == 0 {
		return nil
	}
	*found = append(*found, made)
	inner := [][][]string{wrapped(made.words)}
	for _, name := range made.words[0] {
		for _, after := range r.functions[name] {
			inner = append(inner, made.words[min(1+after, len(made.words)):])
		}
	}
	if made.is("find") {
		for i, word := range made.words {
			if slices.Contains([]string{"-exec", "-execdir", "-ok"}, word[0]) {
				inner = append(inner, made.words[i+1:])
			}
		}
	}
	for _, words := range inner {
		if err := r.follow(call{words: words, assigned: made.assigned}, found); err != nil {
			return err
		}
	}
	return r.followText(made, found)
}

// followText adds the calls of a script that a call has among its words.
func (r reader) followText(made call, found *[]call) error {
	text := ""
	switch {
	case made.is("trap") && len(made.words) > 1:
		text = made.words[1][0]
	case made.is("sh") || made.is("bash"):
		for i, word := range made.words[:len(made.words)-1] {
			if scriptFlags.MatchString(word[0]) {
				text = made.words[i+1][0]
			}
		}
	}
	if text == "" || strings.Contains(text, unknown) {
		return nil
	}
	file, err := parse(text, "")
	if err != nil {
		return err
	}
	inner, err := r.read(file, "")
	*found = append(*found, inner...)
	return err
}

// builtins are the commands that bash has by itself.
var builtins = sync.OnceValues(func() (map[string]bool, error) {
	output, err := exec.CommandContext(context.Background(), "bash", "-c", "compgen -b -k").Output()
	if err != nil {
		return nil, fmt.Errorf("ask bash for its builtins: %w", err)
	}
	names := map[string]bool{}
	for name := range strings.FieldsSeq(string(output)) {
		names[name] = true
	}
	return names, nil
})
