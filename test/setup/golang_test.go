// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// goFolder is what the Go files of a folder name.
type goFolder struct {
	// commands are those that they run.
	commands []string
	// texts are all their strings.
	texts []string
	// imports are the paths of what they import.
	imports []string
}

// readGo reads the Go files of a folder: with its tests, or as others use it.
// What a program calls, its tests do not.
func readGo(folder string, tests bool) (goFolder, error) {
	var files []*ast.File
	entries, err := os.ReadDir(folder)
	if err != nil {
		return goFolder{}, err
	}
	for _, entry := range entries {
		if path.Ext(entry.Name()) != ".go" || !tests && strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, entry.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return goFolder{}, err
		}
		if program := file.Name.Name == "main"; tests && program && !strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		files = append(files, file)
	}
	return readFiles(files), nil
}

func readFiles(files []*ast.File) goFolder {
	var found goFolder
	runners := findRunners(files)
	for _, file := range files {
		for _, imported := range file.Imports {
			found.imports = append(found.imports, text(imported.Path))
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.BasicLit:
				found.texts = append(found.texts, text(node))
			case *ast.CallExpr:
				if at, runs := runners.command(node); runs && len(node.Args) > at {
					if name := text(first(node.Args[at])); name != "" {
						found.commands = append(found.commands, name)
					}
				}
			}
			return true
		})
	}
	return found
}

// runners are functions that run a command, and the argument that it is.
type runners map[string]int

// command is which argument of a call is a command that it runs.
func (r runners) command(made *ast.CallExpr) (at int, runs bool) {
	switch function := made.Fun.(type) {
	case *ast.Ident:
		at, runs = r[function.Name]
	case *ast.SelectorExpr:
		if pkg, ok := function.X.(*ast.Ident); ok && pkg.Name == "exec" {
			at, runs = map[string]int{"Command": 0, "CommandContext": 1, "LookPath": 0}[function.Sel.Name]
		}
	}
	return at, runs
}

// findRunners finds the functions that run a command that they are told: those
// that hand a parameter, or the first of several, on to one that does.
func findRunners(files []*ast.File) runners {
	found := runners{}
	for grown := true; grown; {
		grown = false
		for _, file := range files {
			for _, declared := range file.Decls {
				function, ok := declared.(*ast.FuncDecl)
				if !ok || function.Body == nil || function.Recv != nil {
					continue
				}
				if _, known := found[function.Name.Name]; known {
					continue
				}
				if at, runs := found.runsParameter(function); runs {
					found[function.Name.Name] = at
					grown = true
				}
			}
		}
	}
	return found
}

// runsParameter is which parameter of a function is a command that it runs.
func (r runners) runsParameter(function *ast.FuncDecl) (at int, runs bool) {
	var parameters []string
	for _, field := range function.Type.Params.List {
		for _, name := range field.Names {
			parameters = append(parameters, name.Name)
		}
	}
	ast.Inspect(function.Body, func(node ast.Node) bool {
		made, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		argument, ok := r.command(made)
		if !ok || len(made.Args) <= argument {
			return true
		}
		// Behind ip netns exec, what is handed on comes last.
		for _, candidate := range []ast.Expr{first(made.Args[argument]), last(made.Args[argument])} {
			if name, ok := candidate.(*ast.Ident); ok && slices.Contains(parameters, name.Name) {
				at, runs = slices.Index(parameters, name.Name), true
			}
		}
		return true
	})
	return at, runs
}

// first is the first of several words, if an expression is that.
func first(expression ast.Expr) ast.Expr {
	switch expression := expression.(type) {
	case *ast.IndexExpr:
		if text(expression.Index) == "0" {
			return expression.X
		}
	case *ast.CompositeLit:
		if len(expression.Elts) > 0 {
			return first(expression.Elts[0])
		}
	case *ast.CallExpr:
		switch function := expression.Fun.(type) {
		case *ast.Ident:
			if function.Name == "append" {
				return first(expression.Args[0])
			}
		case *ast.SelectorExpr:
			if function.Sel.Name == "Concat" {
				return first(expression.Args[0])
			}
		}
	}
	return expression
}

// last is what comes last of several words, if an expression is that.
func last(expression ast.Expr) ast.Expr {
	if made, ok := expression.(*ast.CallExpr); ok && made.Ellipsis.IsValid() {
		return made.Args[len(made.Args)-1]
	}
	return expression
}

// text is the value of a literal.
func text(expression ast.Expr) string {
	literal, ok := expression.(*ast.BasicLit)
	if !ok {
		return ""
	}
	if value, err := strconv.Unquote(literal.Value); err == nil {
		return value
	}
	return literal.Value
}

// goFolders are the folders below one that hold Go.
func goFolders(folder string) ([]string, error) {
	var folders []string
	err := filepath.WalkDir(folder, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && at != folder || skipped(entry.Name())):
			return fs.SkipDir
		case path.Ext(at) == ".go" && !slices.Contains(folders, filepath.Dir(at)):
			folders = append(folders, filepath.Dir(at))
		}
		return nil
	})
	return folders, err
}

// skipped says whether a folder holds nothing of this repository's own.
func skipped(name string) bool {
	return slices.Contains([]string{"node_modules", "testdata", "target", "dist"}, name)
}
