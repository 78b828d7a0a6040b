// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
)

// wholeManifest is a network whose spec says something about everything.
const wholeManifest = `
apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata:
  name: whole
spec:
  shards: 4
  producersPerShard: 2
  chunkValidators: 1
  regions:
    - {name: us-central1, nodes: 5}
    - {name: us-east1, nodes: 4}
  links:
    - {between: [us-central1, us-east1], delayMilliseconds: 10, lossBasisPoints: 10, bandwidthMegabitsPerSecond: 1000}
  genesis: {accountsPerShard: 1000, initialBalance: 1000000, seed: test}
  protocol: {leastBalance: 10}
  node:
    image: shardnode:one
    resources:
      requests: {cpu: 2, memory: 4Gi}
      limits: {cpu: 4, memory: 8Gi}
    roles:
      - role: ChunkValidator
        resources:
          requests: {cpu: 1, memory: 2Gi}
          limits: {cpu: 2, memory: 4Gi}
  placement: {machineType: c4d-highmem-16}
  podTemplate:
    metadata: {labels: {team: chain}, annotations: {example.com/owner: somebody}}
    spec:
      imagePullSecrets: [{name: registry}]
      nodeSelector: {disk: fast}
      tolerations: [{key: dedicated, value: chain, effect: NoExecute, tolerationSeconds: 60}]
      priorityClassName: high
      runtimeClassName: runc
      schedulerName: own
      topologySpreadConstraints:
        - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [shardyard.dev/shard]}
  rpcService:
    type: LoadBalancer
    annotations: {example.com/balancer: internal}
    sourceRanges: [203.0.113.0/24]
  volume: {size: 10Gi, iops: 4000, throughputMebibytesPerSecond: 200}
  tracing: {endpoint: "http://otel.example:4318"}
  load:
    profile: Ramp
    ramp:
      steps:
        - {transfersPerSecond: 1000, durationSeconds: 10}
        - {transfersPerSecond: 4000, durationSeconds: 60}
    workload: {withinShardPercent: 10}
  budget: {usdPerHour: 1000, usdPerRun: 5000}
  lifetime: {durationSeconds: 7200, action: Stop}
`

// fieldChange is a change of one field, and all that it changes.
type fieldChange struct {
	// given is what the manifest says besides, before and after.
	given map[string]any
	// to is another value of the field.
	to any
	// set, in the place of to, are the values of several paths: where the field
	// cannot change alone, or in one item of a list alone.
	set map[string]any
	// along are the other fields that change by it.
	along []string
	// in is where the change is to be seen, and nowhere else.
	in []effect
	// refused, in the place of in, says why no network may have the field at all.
	refused string
}

// without, as a value, takes a field away.
var without = struct{}{}

type object = map[string]any

// Every field of the API does something: where it is changed, what the operator
// makes of it is another, in the places that are named and in no others. So a
// field that is accepted and not applied fails here, and so does one that replaces
// nodes though it should not.
func TestEveryFieldHasItsEffect(t *testing.T) {
	t.Parallel()
	for field, schema := range specFields(t) {
		// What has one value cannot be changed.
		if _, ok := fieldChanges[field]; !ok && len(schema.Enum) != 1 {
			t.Errorf("%s is not in the table: say what it changes", field)
		}
	}
	for field, change := range fieldChanges {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			if specFields(t)[field] == nil {
				t.Fatal("there is no such field")
			}
			change.check(t, field)
		})
	}
}

func (c *fieldChange) check(t *testing.T, field string) {
	t.Helper()
	before, err := readWhole(t, c.given)
	if err != nil {
		t.Fatal(err)
	}
	after, err := readWhole(t, c.edits(field, c.to))
	if c.refused != "" {
		if err == nil || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("the error is %v, want it to say %q", err, c.refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}

	changed := differentFields(leaves(t, before), leaves(t, after))
	if want := slices.Sorted(slices.Values(append([]string{field}, c.along...))); !slices.Equal(changed, want) {
		t.Errorf("the fields %v are changed, want %v", changed, want)
	}
	if len(c.in) == 0 {
		t.Error("the table does not say what the field changes")
	}
	seen := differentFields(effectsOf(t, before), effectsOf(t, after))
	if want := slices.Sorted(slices.Values(c.in)); !slices.Equal(seen, want) {
		t.Errorf("the change is to be seen in %q, want %q", seen, want)
	}
}

// edits are what the manifest says with the change, and with a value of the field
// if the change sets nothing else.
func (c *fieldChange) edits(field string, value any) map[string]any {
	edits := object{}
	maps.Copy(edits, c.given)
	maps.Copy(edits, c.set)
	if c.set == nil {
		edits[inManifest(field)] = value
	}
	return edits
}

// inManifest is the path of a field of the first item of each list.
func inManifest(field string) string { return strings.ReplaceAll(field, "[]", "[0]") }

// Every field that has a wrong value is named by the error about it.
func TestEveryFieldIsNamedWhereItIsWrong(t *testing.T) {
	t.Parallel()
	for field, schema := range specFields(t) {
		change := fieldChanges[field]
		if change.refused != "" {
			continue
		}
		for kind, value := range wrongValues(schema) {
			t.Run(field+"/"+kind, func(t *testing.T) {
				t.Parallel()
				// The rest is as in a network that may have the field.
				path, edits := inManifest(field), change.edits(field, value)
				edits[path] = value
				_, err := readWhole(t, edits)
				if err == nil || !strings.Contains(err.Error(), path+":") && !strings.Contains(err.Error(), path+"[0]:") {
					t.Errorf("with %v, the error is %v; want it to name %s", value, err, path)
				}
			})
		}
	}
}

// wrongValues are values that a field cannot have: of another type, and just
// beyond each of its bounds, of which every field has some.
func wrongValues(schema *apiextensionsv1.JSONSchemaProps) map[string]any {
	wrong := map[string]any{"of another type": true}
	switch {
	case schema.Type == "array":
		wrong["too short"], wrong["too long"] = []any{}, slices.Repeat([]any{"a"}, 1<<10)
	case schema.XIntOrString:
		wrong["no quantity"] = "plenty"
	case schema.AdditionalProperties != nil:
		wrong["of no key"] = object{"": "a"}
		wrong["too many"] = manyKeys()
	case len(schema.Enum) > 0:
		wrong["no such word"] = "Wrong"
	case schema.Type == "string":
		wrong["too long"] = strings.Repeat("a", 1<<10)
		if schema.Pattern == "" || !regexp.MustCompile(schema.Pattern).MatchString("") {
			wrong["empty"] = ""
		}
	case schema.Type == "integer":
		wrong["too small"] = int64(*schema.Minimum) - 1
		if schema.Maximum != nil {
			wrong["too large"] = int64(*schema.Maximum) + 1
		} else if schema.Format == "int64" {
			wrong["beyond all"] = math.MaxInt64 * 2.0
		}
	}
	return wrong
}

func manyKeys() object {
	keys := object{}
	for i := range 1 << 10 {
		keys[fmt.Sprintf("key-%d", i)] = "a"
	}
	return keys
}

// specFields are the fields of the spec in the CRD that are not made of others, by
// their paths; those of the items of a list have [] behind the list.
func specFields(t *testing.T) map[string]*apiextensionsv1.JSONSchemaProps {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases", "shardyard.dev_shardnetworks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, definition); err != nil {
		t.Fatal(err)
	}
	fields := map[string]*apiextensionsv1.JSONSchemaProps{}
	spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	addFields(fields, "spec", &spec)
	return fields
}

func addFields(fields map[string]*apiextensionsv1.JSONSchemaProps, path string, schema *apiextensionsv1.JSONSchemaProps) {
	switch {
	case schema.Type == "array" && len(schema.Items.Schema.Properties) > 0:
		addFields(fields, path+"[]", schema.Items.Schema)
	case len(schema.Properties) > 0:
		for name, field := range schema.Properties {
			addFields(fields, path+"."+name, &field)
		}
	default:
		fields[path] = schema
	}
}

// readWhole reads the whole manifest with changes, as the API server would.
func readWhole(t *testing.T, edits map[string]any) (*v1alpha1.ShardNetwork, error) {
	t.Helper()
	var whole object
	if err := yaml.Unmarshal([]byte(wholeManifest), &whole); err != nil {
		t.Fatal(err)
	}
	// What is around a field is changed before the field.
	for _, path := range slices.Sorted(maps.Keys(edits)) {
		at, names := whole, strings.Split(path, ".")
		last := len(names) - 1
		for i, name := range names[:last] {
			name, inList := strings.CutSuffix(name, "[0]")
			if inList {
				list, ok := at[name].([]any)
				if !ok {
					t.Fatalf("there is no list %s to change", strings.Join(names[:i+1], "."))
				}
				at = list[0].(object)
				continue
			}
			if at[name] == nil {
				at[name] = object{}
			}
			at = at[name].(object)
		}
		if edits[path] == without {
			unstructured.RemoveNestedField(at, names[last])
			continue
		}
		// Whoever changes the manifest again changes no value of the table.
		content, err := json.Marshal(edits[path])
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(content, &value); err != nil {
			t.Fatal(err)
		}
		at[names[last]] = value
	}
	content, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return manifest.Parse(content)
}

// leaves are the values of all fields of a spec, by their paths without places in
// lists.
func leaves(t *testing.T, network *v1alpha1.ShardNetwork) map[string]string {
	t.Helper()
	content, err := json.Marshal(network.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var spec any
	if err := json.Unmarshal(content, &spec); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	addLeaves(found, specFields(t), "spec", spec)
	return found
}

func addLeaves(found map[string]string, fields map[string]*apiextensionsv1.JSONSchemaProps, path string, value any) {
	items, isList := value.([]any)
	parts, isObject := value.(object)
	switch {
	case fields[path] != nil:
		found[path] += fmt.Sprint(value) + "\n"
	case isList:
		for _, item := range items {
			addLeaves(found, fields, path+"[]", item)
		}
	case isObject:
		for name, part := range parts {
			addLeaves(found, fields, path+"."+name, part)
		}
	}
}

// differentFields are the keys whose values differ.
func differentFields[K ~string](before, after map[K]string) []K {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var different []K
	for key := range all {
		if before[key] != after[key] {
			different = append(different, key)
		}
	}
	slices.Sort(different)
	return different
}
