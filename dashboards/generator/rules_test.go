// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/dashboards/generator/rules"
)

// Every rule uses series that somebody exports, as what they are.
func TestRulesFollowTheCatalogue(t *testing.T) {
	all := known(t)
	for _, group := range rules.All().Groups {
		for _, rule := range group.Rules {
			checkExpression(t, rule.Record+rule.Alert, rule.Expr, all)
		}
	}
}

var queries = regexp.MustCompile("(?s)```promql\n(.*?)```")

// So does every query of a runbook, one a line.
func TestRunbooksFollowTheCatalogue(t *testing.T) {
	pages, err := filepath.Glob("../../docs/runbooks/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no runbooks: %v", err)
	}
	all := known(t)
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range queries.FindAllStringSubmatch(string(content), -1) {
			for query := range strings.Lines(block[1]) {
				checkExpression(t, filepath.Base(page), query, all)
			}
		}
	}
}
