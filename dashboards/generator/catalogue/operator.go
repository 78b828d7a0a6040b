// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// operator is what the operator's controllers describe themselves: every call
// of prometheus.NewDesc below a folder.
func operator(folder string) ([]Metric, error) {
	var metrics []Metric
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, isCall := node.(*ast.CallExpr)
			if !isCall || err != nil {
				return err == nil
			}
			if function, isSelector := call.Fun.(*ast.SelectorExpr); isSelector && function.Sel.Name == "NewDesc" {
				var metric Metric
				if metric, err = described(call); err == nil {
					metrics = append(metrics, metric)
				}
			}
			return true
		})
		if err != nil {
			return fmt.Errorf("read the metrics of %s: %w", path, err)
		}
		return nil
	})
	if err == nil && len(metrics) == 0 {
		err = fmt.Errorf("nothing below %s describes a metric", folder)
	}
	return metrics, err
}

// described is the metric of a call of prometheus.NewDesc: its name, its help and
// the names of its labels, all of them literal.
func described(call *ast.CallExpr) (Metric, error) {
	const name, help, names = 0, 1, 2
	metric := Metric{Kind: Gauge}
	labels, isList := call.Args[names].(*ast.CompositeLit)
	if !isList {
		return Metric{}, errors.New("the labels of a metric are no literal list")
	}
	literals := append([]ast.Expr{call.Args[name], call.Args[help]}, labels.Elts...)
	texts := make([]string, 0, len(literals))
	for _, literal := range literals {
		basic, isBasic := literal.(*ast.BasicLit)
		if !isBasic {
			return Metric{}, errors.New("a metric is not described by literals")
		}
		text, err := strconv.Unquote(basic.Value)
		if err != nil {
			return Metric{}, err
		}
		texts = append(texts, text)
	}
	metric.Name, metric.Help, metric.Labels = texts[name], texts[help], texts[names:]
	if strings.HasSuffix(metric.Name, "_total") {
		metric.Kind = Counter
	}
	return metric, nil
}
