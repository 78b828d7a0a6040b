// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/internal/topology"
)

const (
	quickstart = "../../config/samples/quickstart.yaml"
	near70     = "../../config/samples/near-1m-70-shards.yaml"
)

// shardyard runs a command line that must succeed and returns what it prints.
func shardyard(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), append([]string{"shardyard"}, args...), &stdout, &stderr); code != 0 {
		t.Fatalf("%v exits with %d: %s", args, code, &stderr)
	}
	if stderr.Len() > 0 {
		t.Errorf("%v succeeds but prints errors: %s", args, &stderr)
	}
	return stdout.String()
}

// shardyardFails runs a command line that must fail and returns the lines of
// its errors.
func shardyardFails(t *testing.T, args ...string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), append([]string{"shardyard"}, args...), &stdout, &stderr); code != 1 {
		t.Fatalf("%v exits with %d, want 1", args, code)
	}
	if stdout.Len() > 0 {
		t.Errorf("%v fails but prints output: %s", args, &stdout)
	}
	return strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
}

// changed writes a copy of the quickstart sample with some text replaced.
func changed(t *testing.T, replacements ...string) string {
	t.Helper()
	content, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	replaced := strings.NewReplacer(replacements...).Replace(string(content))
	if replaced == string(content) {
		t.Fatalf("%q is not in %s", replacements, quickstart)
	}
	path := filepath.Join(t.TempDir(), "network.yaml")
	if err := os.WriteFile(path, []byte(replaced), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlanTable(t *testing.T) {
	t.Parallel()
	want := strings.Join([]string{
		"VALIDATOR          SHARD   SLOT   ROLE       REGION   MACHINE",
		"quickstart-s0-p0   0       0      producer   local    local-0",
		"quickstart-s0-p1   0       1      producer   local    local-2",
		"quickstart-s1-p0   1       0      producer   local    local-3",
		"quickstart-s1-p1   1       1      producer   local    local-1",
		"",
		"COST       USD       OF",
		"Machines   unknown   spec.placement.exclusivity is Shared, which leaves the number of machines open",
		"Disks      0.00      no spec.volume",
		"Clusters   unknown   spec.placement.regionAffinity is None, which leaves open where validators run",
		"Traffic    unknown   spec.placement.regionAffinity is None, which leaves open where validators run",
		"Per hour   unknown   prices of 2026-08-20, without boot disks, machines beside the validators', load balancers, " +
			"stored results, discounts and taxes",
		"",
	}, "\n")
	if got := shardyard(t, "plan", "-f", quickstart); got != want {
		t.Errorf("the plan is\n%s\nwant\n%s", got, want)
	}
}

func TestPlanTableOfLinks(t *testing.T) {
	t.Parallel()
	path := changed(t, "  genesis:", strings.Join([]string{
		"  links:",
		"    - between: [local, local]",
		"      delayMilliseconds: 40",
		"      bandwidthMegabitsPerSecond: 1000",
		"  genesis:",
	}, "\n"))
	want := strings.Join([]string{
		"",
		"LINK            DELAY   LOSS   BANDWIDTH",
		"local - local   40 ms   -      1000 Mbit/s",
		"",
		"COST ",
	}, "\n")
	if got := shardyard(t, "plan", "-f", path); !strings.Contains(got, want) {
		t.Errorf("the plan is\n%s\nwant it to say\n%s", got, want)
	}
	path = changed(t, "  genesis:", "  links:\n    - {between: [local, local], lossBasisPoints: 3}\n  genesis:")
	want = "local - local   -       3/10000   -\n"
	if got := shardyard(t, "plan", "-f", path); !strings.Contains(got, want) {
		t.Errorf("the plan is\n%s\nwant it to say\n%s", got, want)
	}
}

// A chunk validator has neither shard nor slot.
func TestPlanTableOfChunkValidators(t *testing.T) {
	t.Parallel()
	path := changed(t, "nodes: 4", "nodes: 5", "producersPerShard: 2", "producersPerShard: 2\n  chunkValidators: 1")
	want := "quickstart-v0      -       -      chunkValidator   local    local-4\n"
	if got := shardyard(t, "plan", "-f", path); !strings.Contains(got, want) {
		t.Errorf("the plan is\n%s\nwant it to say\n%s", got, want)
	}
}

// JSON and YAML are the same plan.
func TestPlanFormats(t *testing.T) {
	t.Parallel()
	type decoded struct {
		topology.Plan

		Cost json.RawMessage `json:"cost"`
	}
	var fromJSON, fromYAML decoded
	if err := json.Unmarshal([]byte(shardyard(t, "plan", "-f", near70, "-o", "json")), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(shardyard(t, "plan", "-f", near70, "-o", "yaml")), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if len(fromJSON.Nodes) != 140 || len(fromYAML.Nodes) != 140 {
		t.Fatalf("%d validators in JSON and %d in YAML, want 140", len(fromJSON.Nodes), len(fromYAML.Nodes))
	}
	for i := range fromJSON.Nodes {
		if !reflect.DeepEqual(fromJSON.Nodes[i], fromYAML.Nodes[i]) {
			t.Errorf("validator %s of JSON and %s of YAML differ", fromJSON.Nodes[i].Name, fromYAML.Nodes[i].Name)
		}
	}
}

// The bill of the published run. What it assumes is beside it.
func TestPlanCost(t *testing.T) {
	t.Parallel()
	var plan struct{ Cost json.RawMessage }
	if err := json.Unmarshal([]byte(shardyard(t, "plan", "-f", near70, "-o", "json")), &plan); err != nil {
		t.Fatal(err)
	}
	const want = `{
    "pricesDate": "2026-08-20",
    "usdPerHour": 573.08,
    "parts": [
      {
        "name": "Machines",
        "usdPerHour": 139.46,
        "basis": "140 of c4d-highmem-16 on demand"
      },
      {
        "name": "Disks",
        "usdPerHour": 30.14,
        "basis": "140 of hyperdisk-balanced: 400 GiB, 20000 IOPS, 1144 MiB/s"
      },
      {
        "name": "Clusters",
        "usdPerHour": 0.30,
        "basis": "3 of GKE, one in each region"
      },
      {
        "name": "Traffic",
        "usdPerHour": 403.17,
        "basis": "assumed: each validator sends 61.0 MiB/s at full load, 67% of it to other regions"
      }
    ],
    "notIncluded": "boot disks, machines beside the validators', load balancers, stored results, discounts and taxes"
  }`
	if got := string(plan.Cost); got != want {
		t.Errorf("the cost is\n%s\nwant\n%s", got, want)
	}
}

func TestPlanCostOfARun(t *testing.T) {
	t.Parallel()
	path := changed(t, "spec:\n", "spec:\n  lifetime:\n    durationSeconds: 5400\n    action: Delete\n",
		"name: local", "name: us-east1", "exclusivity: Shared", "machineType: c4d-highmem-16", "regionAffinity: None", "regionAffinity: Required")
	_, got, _ := strings.Cut(shardyard(t, "plan", "-f", path), "\n\n")
	want := strings.Join([]string{
		"COST       USD    OF",
		"Machines   3.98   4 of c4d-highmem-16 on demand",
		"Disks      0.00   no spec.volume",
		"Clusters   0.10   1 of GKE, one in each region",
		"Traffic    0.00   all validators are in one region",
		"Per hour   4.08   prices of 2026-08-20, without boot disks, machines beside the validators', load balancers, " +
			"stored results, discounts and taxes",
		"Per run    6.13   1h30m0s, as spec.lifetime says",
		"",
	}, "\n")
	if got != want {
		t.Errorf("the cost is\n%s\nwant\n%s", got, want)
	}
}

// A network that costs more than it may is refused by both, and one whose cost
// nobody knows as well.
func TestBudget(t *testing.T) {
	t.Parallel()
	budget := func(limit string) []string {
		return []string{"spec:\n", "spec:\n  budget:\n    usdPerHour: " + limit + "\n"}
	}
	priced := []string{
		"name: local", "name: us-east1", "exclusivity: Shared", "machineType: c4d-highmem-16", "regionAffinity: None", "regionAffinity: Required",
	}
	cases := map[string]struct {
		changes []string
		want    string
	}{
		"exceeded": {append(budget("4"), priced...), "spec.budget.usdPerHour: Forbidden: " +
			"the network costs an estimated 4.08 USD per hour, but spec.budget.usdPerHour is 4: machines 3.98 per hour, " +
			"disks 0.00 per hour, clusters 0.10 per hour, traffic 0.00 per hour; prices of 2026-08-20. " +
			"Raise the budget, or ask for less"},
		"not known": {budget("4"), "spec.budget.usdPerHour: Forbidden: " +
			"the cost of the network is not known, so it cannot be kept to spec.budget.usdPerHour 4: " +
			"machines: spec.placement.exclusivity is Shared, which leaves the number of machines open; " +
			"clusters: spec.placement.regionAffinity is None, which leaves open where validators run; " +
			"traffic: spec.placement.regionAffinity is None, which leaves open where validators run. " +
			"State what is missing, or leave out spec.budget"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := changed(t, test.changes...)
			for _, command := range []string{"plan", "validate"} {
				if got := strings.Join(shardyardFails(t, command, "-f", path), "\n"); got != test.want {
					t.Errorf("%s prints\n%s\nwant\n%s", command, got, test.want)
				}
			}
		})
	}
	shardyard(t, "validate", "-f", changed(t, append(budget("5"), priced...)...))
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if got, want := shardyard(t, "validate", "-f", quickstart), "shardnetwork/quickstart is valid\n"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
}

// Every error has a line that begins with the path of its field, whatever the
// command.
func TestInvalidManifests(t *testing.T) {
	t.Parallel()
	path := changed(t, "nodes: 4", "nodes: 3", "accountsPerShard: 1000", "accountsPerShard: 1")
	want := []string{
		"spec.genesis.accountsPerShard: Invalid value: 1: " +
			"spec.genesis.accountsPerShard in body should be greater than or equal to 2",
		"spec.regions: Invalid value: " +
			"the regions have 3 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 4",
	}
	for _, command := range []string{"plan", "validate"} {
		got := shardyardFails(t, command, "-f", path)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s prints\n%s\nwant\n%s", command, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestOtherErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		want string
	}{
		"no manifest":     {[]string{"plan"}, `error: required flag(s) "filename" not set`},
		"no such file":    {[]string{"plan", "-f", "nowhere.yaml"}, "error: open nowhere.yaml: no such file or directory"},
		"unknown format":  {[]string{"plan", "-f", quickstart, "-o", "xml"}, `error: unknown output format "xml": want table, json or yaml`},
		"no cluster":      {[]string{"sweep", "--kubeconfig", "nowhere"}, "error: find cluster: stat nowhere: no such file or directory"},
		"unknown sweep":   {[]string{"sweep", "-o", "yaml"}, `error: unknown output format "yaml": want table or json`},
		"unknown command": {[]string{"fly"}, `error: unknown command "fly" for "shardyard"`},
		"a join without Terraform": {
			[]string{"join", "a=context,domain", "--home", "us"}, "error: --home and --token-command go with --terraform",
		},
		"a scrape of nothing": {
			[]string{"up", "-f", quickstart, "--page", "off", "--scrape-interval", "5s"},
			"error: --scrape-interval is of the page, and --page is off",
		},
		"a file of no folder": {
			[]string{"trace", "critical-path", "spans.otlp", "--state-dir", "state"},
			"error: --state-dir is for a network of this machine, and not for files, --jaeger or --tempo",
		},
		"argument": {[]string{"validate", "-f", quickstart, "more"}, `error: unknown command "more" for "shardyard validate"`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := shardyardFails(t, test.args...); len(got) != 1 || got[0] != test.want {
				t.Errorf("prints %q, want %q", got, test.want)
			}
		})
	}
}

// Run by kubectl, help shows the command that the user typed.
func TestPluginName(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"/usr/bin/kubectl-shardyard", "plan", "--help"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exits with %d: %s", code, &stderr)
	}
	if want := "  kubectl shardyard plan -f FILE"; !strings.Contains(stdout.String(), want) {
		t.Errorf("help is %q, want it to show %q", &stdout, want)
	}
}

// A word that is no command is not help that was asked for.
func TestUnknownCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"bench rnu":       `error: unknown command "rnu" for "shardyard bench": is it run?`,
		"bench run2go":    `error: unknown command "run2go" for "shardyard bench"`,
		"trace show":      `error: unknown command "show" for "shardyard trace"`,
		"collect net":     `error: unknown command "net" for "shardyard collect"`,
		"report compared": `error: unknown command "compared" for "shardyard report": is it compare?`,
	} {
		if got := shardyardFails(t, strings.Fields(line)...); len(got) != 1 || got[0] != want {
			t.Errorf("%s fails with %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{"bench", "bench --help", "help bench", "bench -h rnu"} {
		if out := shardyard(t, strings.Fields(line)...); !strings.Contains(out, "Available Commands:") {
			t.Errorf("%s prints %s", line, out)
		}
	}
}
