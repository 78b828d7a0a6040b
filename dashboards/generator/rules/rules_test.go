// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/dashboards/generator/rules"
)

// inTree are the rules as make generate wrote them.
const inTree = "../../rules.yaml"

// firing is an alert that fires, as whoever is told of it reads it.
type firing struct {
	alert  string
	labels map[string]string
	// summary and description have the values in them.
	summary, description string
}

// moment is what fires at a time.
type moment struct {
	at     string
	firing []firing
}

// alerts are the names of all alerts.
func alerts() []string {
	var names []string
	for _, group := range rules.All().Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" {
				names = append(names, rule.Alert)
			}
		}
	}
	return names
}

// severity is the severity of an alert.
func severity(t *testing.T, alert string) string {
	t.Helper()
	for _, group := range rules.All().Groups {
		for _, rule := range group.Rules {
			if rule.Alert == alert {
				return rule.Labels["severity"]
			}
		}
	}
	t.Fatalf("there is no alert %s", alert)
	return ""
}

// evaluate checks which alerts fire at some moments: those, and no other.
func evaluate(t *testing.T, given []series, moments ...moment) {
	t.Helper()
	type expectedAlert struct {
		Labels      map[string]string `json:"exp_labels"`
		Annotations map[string]string `json:"exp_annotations"`
	}
	type alertTest struct {
		Time     string          `json:"eval_time"`
		Alert    string          `json:"alertname"`
		Expected []expectedAlert `json:"exp_alerts"`
	}
	var tests []alertTest
	for _, moment := range moments {
		for _, name := range alerts() {
			test := alertTest{moment.at, name, []expectedAlert{}}
			for _, firing := range moment.firing {
				if firing.alert != name {
					continue
				}
				labels := map[string]string{"severity": severity(t, name)}
				for label, value := range firing.labels {
					labels[label] = value
				}
				test.Expected = append(test.Expected, expectedAlert{labels, map[string]string{
					"summary":     firing.summary,
					"description": firing.description,
					"runbook_url": "https://github.com/shardyard/shardyard/blob/main/docs/runbooks/" + rules.Runbook(name),
				}})
			}
			tests = append(tests, test)
		}
	}
	file, err := filepath.Abs(inTree)
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(map[string]any{
		"rule_files":          []string{file},
		"evaluation_interval": "1m",
		"tests":               []any{map[string]any{"interval": "30s", "input_series": given, "alert_rule_test": tests}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(path, document, 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestRulesAreWellFormed(t *testing.T) {
	t.Parallel()
	if output, err := exec.CommandContext(t.Context(), "promtool", "check", "rules", inTree).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestNothingFiresInGoodTimes(t *testing.T) {
	t.Parallel()
	evaluate(t, healthy(), moment{at: "1m"}, moment{at: "6m"}, moment{at: "30m"}, moment{at: "60m"}, moment{at: "115m"})
}

// A fixed count of transfers, for however long, fills pools as fast as they have room.
func TestNothingFiresForAFixedCount(t *testing.T) {
	t.Parallel()
	given := slices.DeleteFunc(healthy(), func(s series) bool { return strings.HasPrefix(s.Series, "shardnode_load_") })
	given = slices.Concat(given,
		everywhere("shardnode_load_signed_total", "", 0, 100),
		everywhere("shardnode_load_held_back_total", "", 0, 1e6))
	for _, node := range validators {
		given = append(given, gauge("shardnode_load_target_tps", ofNode(node, ""), 0, 1e6))
	}
	evaluate(t, given, moment{at: "36m"}, moment{at: "45m"}, moment{at: "60m"}, moment{at: "63m"}, moment{at: "66m"}, moment{at: "75m"})
}

// A chain that has not begun stands still, and so does one whose lifetime has ended.
func TestNothingFiresForAChainThatIsNotMeantToMove(t *testing.T) {
	t.Parallel()
	stalled := slices.Concat(chainSeries(silenced), condition("Producing", "Unknown", "NoAnswer"))
	unbegun := gauge("shardyard_shardnetwork_highest_finalized_height", ofNetwork(""), 0, 0)
	moments := []moment{{at: "34m"}, {at: "45m"}, {at: "59m"}}
	evaluate(t, with(healthy(), append([]series{unbegun}, stalled...)), moments...)
	evaluate(t, with(healthy(), slices.Concat(stalled, condition("WithinLifetime", "False", "LifetimeEnded"))), moments...)
}

// An operator that reaches no node, or has another time, says nothing of a chain that goes on.
func TestNothingFiresForAChainThatTheOperatorDoesNotSee(t *testing.T) {
	t.Parallel()
	for _, seen := range [][]series{condition("Producing", "Unknown", "NoAnswer"), condition("Producing", "False", "ChainStalled")} {
		evaluate(t, with(healthy(), seen), moment{at: "34m"}, moment{at: "45m"}, moment{at: "59m"})
	}
}

// One of two nodes of a region that catches up after hours is late, and its region is not.
func TestNothingFiresForANodeThatCatchesUp(t *testing.T) {
	t.Parallel()
	evaluate(t, with(healthy(), []series{
		counter("shardnode_finality_lag_seconds_count", ofNode("b1", ""), 4, 100),
		counter("shardnode_finality_lag_seconds_sum", ofNode("b1", ""), 0.4, 60_000),
	}), moment{at: "40m"}, moment{at: "50m"}, moment{at: "59m"}, moment{at: "64m"})
}

// Every alert has a test that fires it.
func TestEveryAlertIsTested(t *testing.T) {
	t.Parallel()
	var tested []string
	for _, incident := range incidents {
		for _, firing := range incident.firing {
			tested = append(tested, firing.alert)
		}
	}
	for _, name := range alerts() {
		if !slices.Contains(tested, name) {
			t.Errorf("no test fires %s", name)
		}
	}
}

// Every alert has a page, which is about it, and a row in the list of pages, and
// every page has an alert.
func TestRunbooks(t *testing.T) {
	t.Parallel()
	const folder = "../../../docs/runbooks"
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{"README.md": true}
	for _, name := range alerts() {
		pages[rules.Runbook(name)] = true
		if row := fmt.Sprintf("| [%s](%s) | %s | ", name, rules.Runbook(name), severity(t, name)); !strings.Contains(string(list), row) {
			t.Errorf("the list of pages has no row %s", row)
		}
		content, err := os.ReadFile(filepath.Join(folder, rules.Runbook(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, part := range []string{"# " + name + "\n", "\n## What it means\n", "\n## What to look at\n", "\n## What to do\n"} {
			if !strings.Contains(string(content), part) {
				t.Errorf("the page of %s has no %q", name, part)
			}
		}
	}
	for _, entry := range entries {
		if !pages[entry.Name()] {
			t.Errorf("%s is of no alert", entry.Name())
		}
	}
}
