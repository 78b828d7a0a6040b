// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"
	"os"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

// rules are a file of them, as far as it says how long something takes.
type rules struct {
	Groups []struct {
		Name  string           `json:"name"`
		Rules []map[string]any `json:"rules"`
	} `json:"groups"`
}

// Hurried are the rules of a file that take one part in so many of the time: every
// range, step and offset of their expressions, and how long what alerts are about
// has to last. All else is as in the file. For tests, which cannot have a network be
// ill for minutes: what is scraped every five seconds in production has to be
// scraped as much more often.
func Hurried(file string, times int) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all rules
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, group := range all.Groups {
		for _, rule := range group.Rules {
			if err := hurry(rule, time.Duration(times)); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", file, group.Name, err)
			}
		}
	}
	return yaml.Marshal(all)
}

// hurry has a rule take one part in so many of its time.
func hurry(rule map[string]any, times time.Duration) error {
	text, isText := rule["expr"].(string)
	if !isText {
		return fmt.Errorf("a rule has the expression %v", rule["expr"])
	}
	expression, err := parser.ParseExpr(text)
	if err != nil {
		return err
	}
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		switch node := node.(type) {
		case *parser.VectorSelector:
			node.OriginalOffset /= times
		case *parser.MatrixSelector:
			node.Range /= times
		case *parser.SubqueryExpr:
			node.Range /= times
			node.Step /= times
			node.OriginalOffset /= times
		}
		return nil
	})
	rule["expr"] = expression.String()
	if lasts, isText := rule["for"].(string); isText {
		duration, err := model.ParseDuration(lasts)
		if err != nil {
			return err
		}
		rule["for"] = (duration / model.Duration(times)).String()
	}
	return nil
}
