// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Query is a query of a panel, with a user's choices in place of variables.
type Query struct {
	Panel, Legend, Expression string
	// Instant says that the panel shows one moment, not a range.
	Instant bool
}

func (q Query) String() string {
	return fmt.Sprintf("%s of %q: %s", q.Legend, q.Panel, q.Expression)
}

// Variable is a variable that offers the values of a label.
type Variable struct {
	Label, Series string
}

// Dashboard is what a dashboard asks for.
type Dashboard struct {
	Queries   []Query
	Variables []Variable
}

// Read reads a dashboard with these values of its variables.
func Read(file string, values map[string]string) (*Dashboard, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var document struct {
		Panels []struct {
			Title   string
			Targets []struct {
				Expr, LegendFormat string
				Instant            bool
			}
		}
		Templating struct {
			List []struct {
				Name, Type string
				Query      string
			}
		}
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}

	replacer := replacer(values)
	dashboard := &Dashboard{}
	for _, panel := range document.Panels {
		for _, target := range panel.Targets {
			expression := replacer.Replace(target.Expr)
			if strings.Contains(expression, "$") {
				return nil, fmt.Errorf("read %s: a variable of %q has no value: %s", file, panel.Title, expression)
			}
			dashboard.Queries = append(dashboard.Queries, Query{
				Panel:      panel.Title,
				Legend:     target.LegendFormat,
				Expression: expression,
				Instant:    target.Instant,
			})
		}
	}
	for _, variable := range document.Templating.List {
		if series, found := strings.CutPrefix(variable.Query, "label_values("); found {
			series = strings.TrimSuffix(series, ", "+variable.Name+")")
			dashboard.Variables = append(dashboard.Variables, Variable{variable.Name, replacer.Replace(series)})
		}
	}
	return dashboard, nil
}

// aboutOperator is the file of the dashboard that asks about the operator, and not
// about the nodes of one network.
const aboutOperator = "operator.json"

// AboutNetworks are the files of the dashboards below a folder that ask the nodes
// of one network.
func AboutNetworks(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == aboutOperator })
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no dashboards", folder)
	}
	return files, nil
}

// replacer replaces variables by their values, those with longer names first.
func replacer(values map[string]string) *strings.Replacer {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, "$"+name, values[name])
	}
	return strings.NewReplacer(pairs...)
}
