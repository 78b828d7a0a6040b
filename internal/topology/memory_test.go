// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/topology"
)

// counted is a case of so many producers, of so many of which something holds.
type counted struct {
	producers, of int
	want          string
}

// checkCounts checks what a check says of a network of producers and an archive, of which the
// same holds, and that it hands on what keeps it from knowing.
func checkCounts(
	t *testing.T, check func(plan *topology.Plan, holds func(node string) (bool, error)) error, cases map[string]counted,
) {
	t.Helper()
	for name, test := range cases {
		plan := &topology.Plan{Nodes: []topology.Validator{{Name: "a0", Role: topology.RoleArchive}}}
		for i := range test.producers {
			plan.Nodes = append(plan.Nodes, topology.Validator{Name: "p" + string(rune('0'+i)), Role: topology.RoleProducer})
		}
		err := check(plan, func(node string) (bool, error) {
			return node == "a0" || int(node[1]-'0') < test.of, nil
		})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
	}
	broken := errors.New("broken disk")
	plan := &topology.Plan{Nodes: []topology.Validator{{Name: "p0", Role: topology.RoleProducer}}}
	if err := check(plan, func(string) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

// A chain goes on with more than two thirds of its producers, whatever the others of its
// nodes have.
func TestCheckMemory(t *testing.T) {
	t.Parallel()
	checkCounts(t, (*topology.Plan).CheckMemory, map[string]counted{
		"one":             {1, 1, ""},
		"none of one":     {1, 0, "only 0 of 1 producers would have data, and the chain goes on with 1"},
		"two of three":    {3, 2, "only 2 of 3 producers would have data, and the chain goes on with 3"},
		"three of four":   {4, 3, ""},
		"two of four":     {4, 2, "only 2 of 4 producers"},
		"five of seven":   {7, 5, ""},
		"four of seven":   {7, 4, "goes on with 5"},
		"an archive only": {4, 0, "only 0 of 4"},
	})
}

// All producers may forget what they voted, and otherwise fewer than a third.
func TestCheckVotes(t *testing.T) {
	t.Parallel()
	checkCounts(t, (*topology.Plan).CheckVotes, map[string]counted{
		"one that keeps": {1, 1, ""},
		"all of four":    {4, 0, ""},
		"one of four":    {4, 3, ""},
		"two of four":    {4, 2, "2 of 4 producers would forget votes, which is safe for 1 beside others that go on with theirs (p0, p1)"},
		"all but one":    {4, 1, "3 of 4 producers"},
		"two of seven":   {7, 5, ""},
		"three of seven": {7, 4, "put back these as well, or not more than 2"},
		"one of two":     {2, 1, "is safe for 0"},
		"none of three":  {3, 3, ""},
	})
}
