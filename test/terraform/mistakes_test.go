// SPDX-License-Identifier: Apache-2.0

package terraform_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// example is what mistakes are made in.
const example = "examples/70-shards-three-regions.tfvars"

// Each mistake fails with words that name it.
func TestMistakes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		file, is, becomes string
		want              []string
	}{
		"a misspelt argument": {
			"modules/gke-region/pools.tf", "    machine_type    = var.machine_type\n", "    machine_typ     = var.machine_type\n",
			[]string{`An argument named "machine_typ" is not expected here. Did you mean "machine_type"?`},
		},
		"a misspelt block": {
			"modules/gke-region/pools.tf", "    gvnic {\n", "    gnvic {\n",
			[]string{`Blocks of type "gnvic" are not expected here. Did you mean "gvnic"?`},
		},
		"a wrong type": {
			"modules/gke-region/pools.tf",
			"  node_count        = var.pool_size == \"FIXED\" ? each.value : null\n", "  node_count        = \"many\"\n",
			[]string{`Inappropriate value for attribute "node_count": a number is required.`},
		},
		"a missing argument": {
			"modules/gke-region/pools.tf", "  cluster           = google_container_cluster.this.name\n", "",
			[]string{`The argument "cluster" is required, but no definition was found.`},
		},
		"a missing block": {
			"modules/artifacts/main.tf", "    action {\n      type = \"Delete\"\n    }\n", "",
			[]string{`At least 1 "action" blocks are required.`},
		},
		"a block too many": {
			"modules/gke-region/pools.tf", "    gvnic {\n", "    gvnic {\n      enabled = true\n    }\n    gvnic {\n",
			[]string{`No more than 1 "gvnic" blocks are allowed`},
		},
		"a resource that is none": {
			"modules/network/main.tf", `resource "google_compute_router" "this"`, `resource "google_compute_routr" "this"`,
			[]string{`does not support resource type "google_compute_routr". Did you mean "google_compute_router"?`},
		},
		"a sysctl that GKE refuses": {
			example, "home_region =", "sysctls = { \"net.core.default_qdisc\" = \"fq\" }\nhome_region =",
			[]string{"GKE does not let a node pool set net.core.default_qdisc: leave it to a NodeTuning"},
		},
		"a disk beyond the machine's cap": {
			example, "throughput_mibps = 1144", "throughput_mibps = 1300",
			[]string{"data_disk.throughput_mibps is 1300, but a c4d-highmem-16 does at most 1200 MiB/s"},
		},
		"a disk that there is not": {
			example, "iops             = 20000", "iops             = 2000",
			[]string{
				"data_disk.iops is 2000, but a volume of 400 GiB has 3000 to 160000",
				"data_disk.throughput_mibps is 1144, but a volume of 2000 IOPS has 140 to 500",
			},
		},
		"a persistent disk": {
			example, "home_region =", "boot_disk = { type = \"pd-ssd\" }\nhome_region =",
			[]string{"boot_disk.type is pd-ssd, but must be hyperdisk-balanced: machines like c4d take no persistent disk"},
		},
		"ranges that overlap": {
			example, `"10.64.64.0/18"`, `"10.64.32.0/19"`,
			[]string{
				"Ranges of one network must not overlap: " +
					"regions.us-central1.pod_range 10.64.0.0/18 and regions.us-east1.pod_range 10.64.32.0/19.",
			},
		},
		"a range that is none": {
			example, `"10.0.4.0/22"`, `"10.0.4.0"`,
			[]string{"Not a range in CIDR notation, as in 10.0.0.0/20: regions.us-east1.node_range 10.0.4.0."},
		},
		"more machines than addresses": {
			example, `"10.64.128.0/18"`, `"10.64.128.0/21"`,
			[]string{"pod_range 10.64.128.0/21 is for 32 machines of 32 pods, but the cluster has 47."},
		},
		"a zone of another region": {
			example, `"us-east4-a"`, `"us-east1-c"`,
			[]string{"Not in region us-east4: us-east1-c."},
		},
		"a reservation that is none": {
			example, `"10.96.16.0/20"`, "\"10.96.16.0/20\"\n    reservation = \"Run 1\"",
			[]string{`reservation is "Run 1", but must be the name of a reservation, or projects/PROJECT/reservations/NAME.`},
		},
		"TIER_1 for a small machine": {
			example, "home_region =", "egress_tier = \"TIER_1\"\nhome_region =",
			[]string{"egress_tier is TIER_1, which is for machines of 48 vCPU and more, but machine_type is c4d-highmem-16."},
		},
		"a home elsewhere": {
			example, `home_region = "us-central1"`, `home_region = "us-west1"`,
			[]string{"home_region us-west1 is none of the regions: us-central1, us-east1, us-east4."},
		},
	}
	for name, mistake := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tf := newTerraform(t, newTree(t))
			plant(t, filepath.Join(tf.folder, mistake.file), mistake.is, mistake.becomes)

			_, err := tf.run(planOf(example)...)
			if err == nil {
				t.Fatal("it passes")
			}
			for _, want := range mistake.want {
				if !strings.Contains(oneLine(err.Error()), want) {
					t.Errorf("no word of %q in: %v", want, err)
				}
			}
		})
	}
}

// The published run's volumes ask for more than its machine does. That is worth
// a warning, and no reason to refuse it.
func TestVolumesThatShareAMachineAreWarnedOf(t *testing.T) {
	t.Parallel()
	tf := newTerraform(t, newTree(t))
	output := string(tf.mustRun(t, planOf(example)...))
	const want = "the volumes of a machine are paid for 1564 MiB/s together, but a c4d-highmem-16 does at most 1200."
	if !strings.Contains(oneLine(output), want) {
		t.Errorf("no word of %q in: %s", want, output)
	}
}

// planOf is the plan of an example, for a project that is not there.
func planOf(file string, more ...string) []string {
	return append([]string{
		"plan", "-no-color", "-input=false", "-lock=false", "-var-file=" + file,
		"-var=project_id=test-project", `-var=admin_ranges={office="198.51.100.0/24"}`,
	}, more...)
}

// oneLine undoes how Terraform breaks and frames its words.
func oneLine(words string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", "", "╷", "", "╵", "").Replace(words)), " ")
}

// plant replaces what is there once.
func plant(t *testing.T, file, is, becomes string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(content), is)
	if !found {
		t.Fatalf("%s has no %q", file, is)
	}
	if err := os.WriteFile(file, []byte(before+becomes+after), 0o600); err != nil {
		t.Fatal(err)
	}
}
