// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
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
	}, "\n")
	if got := shardyard(t, "plan", "-f", quickstart); got != want {
		t.Errorf("the plan is\n%s\nwant\n%s", got, want)
	}
}

// JSON and YAML are the same plan.
func TestPlanFormats(t *testing.T) {
	t.Parallel()
	var fromJSON, fromYAML topology.Plan
	if err := json.Unmarshal([]byte(shardyard(t, "plan", "-f", near70, "-o", "json")), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(shardyard(t, "plan", "-f", near70, "-o", "yaml")), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if len(fromJSON.Validators) != 140 || len(fromYAML.Validators) != 140 {
		t.Fatalf("%d validators in JSON and %d in YAML, want 140", len(fromJSON.Validators), len(fromYAML.Validators))
	}
	for i := range fromJSON.Validators {
		if fromJSON.Validators[i] != fromYAML.Validators[i] {
			t.Errorf("validator %d is %+v in JSON and %+v in YAML", i, fromJSON.Validators[i], fromYAML.Validators[i])
		}
	}
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
			"the nodes of all regions sum to 3, but shards * producersPerShard is 4",
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
		"unknown command": {[]string{"fly"}, `error: unknown command "fly" for "shardyard"`},
		"argument":        {[]string{"validate", "-f", quickstart, "more"}, `error: unknown command "more" for "shardyard validate"`},
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
