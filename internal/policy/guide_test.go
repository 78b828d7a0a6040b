// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// fine are the reasons of conditions that are as they should be.
var fine = []string{
	v1alpha1.ReasonRunning,
	v1alpha1.ReasonOwnCluster,
	v1alpha1.ReasonAllClustersAvailable,
	v1alpha1.ReasonNoLifetime,
	v1alpha1.ReasonLifetimeRunning,
	v1alpha1.ReasonNoBudget,
	v1alpha1.ReasonBudgetKept,
	v1alpha1.ReasonGenesisCreated,
	v1alpha1.ReasonObjectsApplied,
	v1alpha1.ReasonAllNodesReady,
	v1alpha1.ReasonAllKeepUp,
	v1alpha1.ReasonUpToDate,
	v1alpha1.ReasonImageInUse,
	v1alpha1.ReasonAllShardsProducing,
	v1alpha1.ReasonNothingToTune,
	v1alpha1.ReasonTuned,
	v1alpha1.ReasonNothingDrifted,
	v1alpha1.ReasonPodMonitorApplied,
	v1alpha1.ReasonRouteTaken,
	v1alpha1.ReasonArchivesCurrent,
	v1alpha1.ReasonNothingDrained,
	v1alpha1.ReasonAllVolumesSized,
	v1alpha1.ReasonUnderWay,
	v1alpha1.ReasonSucceeded,
	v1alpha1.ReasonUploaded,
	v1alpha1.ReasonScheduled,
	v1alpha1.ReasonSuspended,
	v1alpha1.ReasonNothingDue,
	v1alpha1.ReasonStarted,
	v1alpha1.ReasonMeasured,
}

// The guide shows every trouble in the section of its reason, in the very words
// that the cluster shows, and no other words.
func TestGuideShowsEveryMessage(t *testing.T) {
	t.Parallel()
	sections := readGuide(t)
	shown := map[string]bool{}
	for _, trouble := range troubles(t) {
		if trouble.condition.Reason != trouble.reason {
			t.Errorf("the reason is %s, want %s: %s", trouble.condition.Reason, trouble.reason, trouble.condition.Message)
			continue
		}
		block := render(trouble.condition)
		shown[block] = true
		if section, ok := sections[trouble.reason]; !ok {
			t.Errorf("the guide has no section %s, which shows\n%s", trouble.reason, block)
		} else if !slices.Contains(blocks(section), block) {
			t.Errorf("section %s of the guide does not show\n%s", trouble.reason, block)
		}
	}
	for reason, section := range sections {
		for _, block := range blocks(section) {
			if isCondition.MatchString(block) && !shown[block] {
				t.Errorf("section %s of the guide shows what no test makes\n%s", reason, block)
			}
		}
	}
}

func TestGuideHasEveryReason(t *testing.T) {
	t.Parallel()
	sections := readGuide(t)
	reasons := declaredReasons(t)
	for _, reason := range reasons {
		if _, ok := sections[reason]; ok == slices.Contains(fine, reason) {
			t.Errorf("the guide has a section %s: %v, want %v", reason, ok, !ok)
		}
	}
	for reason := range sections {
		if !slices.Contains(reasons, reason) {
			t.Errorf("the guide has a section %s, which is no reason", reason)
		}
	}
}

var isCondition = regexp.MustCompile(`^\w+ (True|False|Unknown) \w+\n`)

// render is how the command in the guide prints a condition.
func render(condition metav1.Condition) string {
	return fmt.Sprintf("%s %s %s\n%s", condition.Type, condition.Status, condition.Reason, condition.Message)
}

// readGuide is the text of every section about a reason, by reason.
func readGuide(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	heading := regexp.MustCompile("^`(\\w+)`\n")
	for part := range strings.SplitSeq(string(content), "\n### ") {
		match := heading.FindStringSubmatch(part)
		if match == nil {
			continue
		}
		section, _, _ := strings.Cut(part, "\n## ")
		sections[match[1]] = section
	}
	return sections
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

// declaredReasons are all that the API declares.
func declaredReasons(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "api", "v1alpha1", "*conditions.go"))
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, file := range files {
		// What came of a fault is no trouble, and in another guide.
		if filepath.Base(file) == "fault_conditions.go" {
			continue
		}
		reasons = append(reasons, reasonsIn(t, file)...)
	}
	if len(reasons) == 0 {
		t.Fatal("the API declares no reasons")
	}
	return reasons
}

func reasonsIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	ast.Inspect(file, func(node ast.Node) bool {
		constant, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(constant.Names[0].Name, "Reason") {
			return true
		}
		value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		reasons = append(reasons, value)
		return true
	})
	return reasons
}
