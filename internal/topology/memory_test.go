// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/topology"
)

// A chain goes on with more than two thirds of its producers, whatever the others of its
// nodes have.
func TestCheckMemory(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		producers, full int
		want            string
	}{
		"one":             {1, 1, ""},
		"none of one":     {1, 0, "only 0 of 1 producers would have data, and the chain goes on with 1"},
		"two of three":    {3, 2, "only 2 of 3 producers would have data, and the chain goes on with 3"},
		"three of four":   {4, 3, ""},
		"two of four":     {4, 2, "only 2 of 4 producers"},
		"five of seven":   {7, 5, ""},
		"four of seven":   {7, 4, "goes on with 5"},
		"an archive only": {4, 0, "only 0 of 4"},
	} {
		plan := &topology.Plan{Nodes: []topology.Validator{{Name: "a0", Role: topology.RoleArchive}}}
		for i := range test.producers {
			plan.Nodes = append(plan.Nodes, topology.Validator{Name: "p" + string(rune('0'+i)), Role: topology.RoleProducer})
		}
		err := plan.CheckMemory(func(node string) (bool, error) {
			return node == "a0" || int(node[1]-'0') < test.full, nil
		})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
	}
	broken := errors.New("broken disk")
	plan := &topology.Plan{Nodes: []topology.Validator{{Name: "p0", Role: topology.RoleProducer}}}
	if err := plan.CheckMemory(func(string) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

// All producers may forget what they voted, and otherwise fewer than a third.
func TestCheckVotes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		producers, keeping int
		want               string
	}{
		"one that keeps":    {1, 1, ""},
		"all of four":       {4, 0, ""},
		"one of four":       {4, 3, ""},
		"two of four":       {4, 2, "2 of 4 producers would forget votes, which is safe for 1 beside others that go on with theirs (p0, p1)"},
		"all but one":       {4, 1, "3 of 4 producers"},
		"two of seven":      {7, 5, ""},
		"three of seven":    {7, 4, "put back these as well, or not more than 2"},
		"one of two":        {2, 1, "is safe for 0"},
		"none of a shard's": {3, 3, ""},
	} {
		plan := &topology.Plan{Nodes: []topology.Validator{{Name: "a0", Role: topology.RoleArchive}}}
		for i := range test.producers {
			plan.Nodes = append(plan.Nodes, topology.Validator{Name: "p" + string(rune('0'+i)), Role: topology.RoleProducer})
		}
		err := plan.CheckVotes(func(node string) (bool, error) {
			return node == "a0" || int(node[1]-'0') < test.keeping, nil
		})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
	}
	broken := errors.New("broken disk")
	plan := &topology.Plan{Nodes: []topology.Validator{{Name: "p0", Role: topology.RoleProducer}}}
	if err := plan.CheckVotes(func(string) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}
