// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// here is the variable of values that holds the folder of the script.
const here = "$(dirname $BASH_SOURCE)"

// unknown stands in a word for what only a run of the script can tell.
const unknown = "\x00"

// values are what variables may hold, as far as a script says it by itself.
type values map[string][]string

// collect adds what a script assigns, and what its loops go over. outer are the
// values of scripts that share their variables with it.
func (v values) collect(file *syntax.File, outer values) {
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Assign:
			if node.Name == nil {
				break
			}
			if node.Value != nil {
				v.add(node.Name.Value, v.word(node.Value, outer))
			}
			if node.Array != nil {
				for _, element := range node.Array.Elems {
					if element.Value != nil {
						v.add(node.Name.Value, v.word(element.Value, outer))
					}
				}
			}
		case *syntax.ForClause:
			if loop, ok := node.Loop.(*syntax.WordIter); ok {
				for _, item := range loop.Items {
					v.add(loop.Name.Value, v.word(item, outer))
				}
			}
		}
		return true
	})
}

func (v values) add(name string, some []string) {
	for _, value := range some {
		if !slices.Contains(v[name], value) {
			v[name] = append(v[name], value)
		}
	}
}

// word is what a word may be, with unknown for what cannot be said.
func (v values) word(word *syntax.Word, outer values) []string {
	return v.parts(word.Parts, outer)
}

func (v values) parts(parts []syntax.WordPart, outer values) []string {
	all := []string{""}
	for _, part := range parts {
		var longer []string
		for _, prefix := range all {
			for _, value := range v.part(part, outer) {
				longer = append(longer, prefix+value)
			}
		}
		all = longer
	}
	return all
}

func (v values) part(part syntax.WordPart, outer values) []string {
	switch part := part.(type) {
	case *syntax.Lit:
		return []string{strings.ReplaceAll(part.Value, `\`, "")}
	case *syntax.SglQuoted:
		return []string{part.Value}
	case *syntax.DblQuoted:
		return v.parts(part.Parts, outer)
	case *syntax.ParamExp:
		if part.Param == nil || part.Exp != nil || part.Repl != nil || part.Slice != nil || part.Length {
			break
		}
		if known := v[part.Param.Value]; len(known) > 0 {
			return known
		}
		if known := outer[part.Param.Value]; len(known) > 0 {
			return known
		}
	case *syntax.CmdSubst:
		if len(v[here]) > 0 && isFolderOfScript(part) {
			return v[here]
		}
	}
	return []string{unknown}
}

// isFolderOfScript says whether a command prints the folder of its script.
func isFolderOfScript(part *syntax.CmdSubst) bool {
	if len(part.Stmts) != 1 {
		return false
	}
	made, ok := part.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(made.Args) != 2 || made.Args[0].Lit() != "dirname" {
		return false
	}
	found := false
	syntax.Walk(made.Args[1], func(node syntax.Node) bool {
		name, ok := node.(*syntax.Lit)
		found = found || ok && name.Value == "BASH_SOURCE"
		return true
	})
	return found
}
