// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/test/guide"
)

// root is the folder of the repository.
var root = filepath.Join("..", "..")

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

// The guide shows every trouble of a network, and no others.
func TestGuideShowsEveryMessage(t *testing.T) {
	t.Parallel()
	shown := guide.Read(t, root, v1alpha1.KindShardNetwork)
	for _, trouble := range troubles(t) {
		shown.Shows(t, trouble.reason, trouble.condition)
	}
	shown.NothingElse(t)
}

// Every reason has a section, of whichever kind it is.
func TestGuideHasEveryReason(t *testing.T) {
	t.Parallel()
	sections := guide.Read(t, root, v1alpha1.KindShardNetwork).Reasons()
	reasons := declaredReasons(t)
	for _, reason := range reasons {
		if ok := slices.Contains(sections, reason); ok == slices.Contains(fine, reason) {
			t.Errorf("the guide has a section %s: %v, want %v", reason, ok, !ok)
		}
	}
	for _, reason := range sections {
		if !slices.Contains(reasons, reason) {
			t.Errorf("the guide has a section %s, which is no reason", reason)
		}
	}
}

// declaredReasons are all that the API declares.
func declaredReasons(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "api", "v1alpha1", "*conditions.go"))
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
