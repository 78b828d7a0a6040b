// SPDX-License-Identifier: Apache-2.0

// Package guide tests that the guide to troubles shows every one that a kind has, in the
// very words that the cluster shows, and no other words.
package guide

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// isCondition is a block that shows a condition: its type, status and reason.
var isCondition = regexp.MustCompile(`^(\w+) (?:True|False|Unknown) (\w+)\n`)

// ofNetworks are the reasons that the condition Ready of a ShardNetwork has.
var ofNetworks = []string{v1alpha1.ReasonStarting, v1alpha1.ReasonDegraded, v1alpha1.ReasonDeleting}

// Guide is what the guide says of the troubles of one kind.
type Guide struct {
	kind string
	// sections are the texts of those about a reason, of whichever kind.
	sections map[string]string
	// shown are the blocks that are known to be right.
	shown map[string]bool
}

// Read reads the guide of a repository, for a kind.
func Read(t *testing.T, root, kind string) *Guide {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs", "guides", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	guide := &Guide{kind: kind, sections: map[string]string{}, shown: map[string]bool{}}
	heading := regexp.MustCompile("^`(\\w+)`\n")
	for part := range strings.SplitSeq(string(content), "\n### ") {
		match := heading.FindStringSubmatch(part)
		if match == nil {
			continue
		}
		section, _, _ := strings.Cut(part, "\n## ")
		guide.sections[match[1]] = section
	}
	return guide
}

// Reasons are those that have a section, of all kinds.
func (g *Guide) Reasons() []string { return slices.Sorted(maps.Keys(g.sections)) }

// Shows tests that a trouble of the kind has a reason, and is in the section of that.
func (g *Guide) Shows(t *testing.T, reason string, condition metav1.Condition) {
	t.Helper()
	if condition.Reason != reason {
		t.Errorf("the reason is %s, want %s: %s", condition.Reason, reason, condition.Message)
		return
	}
	if kind := kindOf(condition.Type, reason); kind != g.kind {
		t.Errorf("%s %s is taken for a condition of a %s, not of a %s", condition.Type, reason, kind, g.kind)
	}
	block := render(condition)
	g.shown[block] = true
	if section, ok := g.sections[reason]; !ok {
		t.Errorf("the guide has no section %s, which shows\n%s", reason, block)
	} else if !slices.Contains(blocks(section), block) {
		t.Errorf("section %s of the guide does not show\n%s", reason, block)
	}
}

// NothingElse tests that the guide shows no other troubles of the kind.
func (g *Guide) NothingElse(t *testing.T) {
	t.Helper()
	for reason, section := range g.sections {
		for _, block := range blocks(section) {
			match := isCondition.FindStringSubmatch(block)
			if match != nil && kindOf(match[1], match[2]) == g.kind && !g.shown[block] {
				t.Errorf("section %s of the guide shows what no test makes\n%s", reason, block)
			}
		}
	}
}

// kindOf is the kind of what has a condition. Every one that the guide shows is of one of
// these, so that there is a test that makes it.
func kindOf(condition, reason string) string {
	switch {
	case condition == v1alpha1.ConditionOnTime,
		condition == v1alpha1.ConditionReady && reason == v1alpha1.ReasonInvalidSchedule:
		return v1alpha1.KindBenchmarkSchedule
	case condition == v1alpha1.ConditionSteady,
		condition == v1alpha1.ConditionReady && !slices.Contains(ofNetworks, reason):
		return v1alpha1.KindNodeTuning
	default:
		return v1alpha1.KindShardNetwork
	}
}

// render is how the command in the guide prints a condition.
func render(condition metav1.Condition) string {
	return fmt.Sprintf("%s %s %s\n%s", condition.Type, condition.Status, condition.Reason, condition.Message)
}

// blocks are the code blocks of a section.
func blocks(section string) []string {
	var found []string
	for i, part := range strings.Split(section, "\n```") {
		if i%2 == 1 {
			_, code, _ := strings.Cut(part, "\n")
			found = append(found, code)
		}
	}
	return found
}
