// SPDX-License-Identifier: Apache-2.0

package terraform_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

const guide = "../../docs/guides/70-shards-on-gke.md"

// The guide states the bill and the quotas that the plan of its example states.
func TestGuideStatesThePlan(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	planned := newPlan(t, example)
	cost := planned.Outputs.Cost.After

	figures := map[string]string{"the day of the prices": "the prices of " + cost.PricesOf}
	figures["the sum"] = cell(cost.PerHour)
	figures["from apply on"] = amount(cost.PerHourOf["machines"]+cost.PerHourOf["boot_disks"]+cost.PerHourOf["clusters"]) + " USD per hour"
	figures["from install on"] = amount(cost.PerHourOf["data_disks"]+cost.PerHourOf["traffic"]) + " USD per hour more"
	for part, perHour := range cost.PerHourOf {
		figures[part] = cell(perHour)
	}
	for region, quotas := range planned.Outputs.Quotas.After {
		for quota, amount := range quotas {
			figures[quota+" in "+region] = "| " + thousands(amount) + " |"
		}
	}
	for quota, amount := range planned.Outputs.ProjectQuotas.After {
		figures[quota] = "| " + thousands(amount) + " |"
	}
	if len(figures) != 4+5+3*4+1 {
		t.Errorf("the plan states %d figures: %v", len(figures), figures)
	}
	for what, figure := range figures {
		if !strings.Contains(string(content), figure) {
			t.Errorf("%s: the guide has no %q", what, figure)
		}
	}
}

// Contexts that gcloud makes have kubectl, helm and shardyard call a plugin that
// does not come with it.
func TestGuideNamesWhatContextsCall(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	needed, _, found := strings.Cut(string(content), "output -json credentials")
	if !found || !strings.Contains(needed, "gcloud components install gke-gcloud-auth-plugin") {
		t.Error("the guide makes contexts without gke-gcloud-auth-plugin")
	}
}

// cell is an amount of money as a table has it.
func cell(money float64) string {
	return "| " + amount(money) + " |"
}

// thousands writes a number with commas.
func thousands(number int) string {
	digits := strconv.Itoa(number)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
