// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/shardyard/shardyard/hack/tools/terraform-provider-google/schema"
)

func google(t *testing.T) *provider {
	t.Helper()
	document, err := schema.Google()
	if err != nil {
		t.Fatal(err)
	}
	provider, err := newProvider(document)
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

func TestSchemaOfEveryResourceIsServed(t *testing.T) {
	provider := google(t)
	response, err := provider.GetProviderSchema(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(response.ResourceSchemas) != len(provider.schemas) || len(response.ResourceSchemas) == 0 {
		t.Errorf("serves %d of %d resources", len(response.ResourceSchemas), len(provider.schemas))
	}
}

// What the configuration says stays, and what it leaves to Google is unknown,
// inside of blocks too.
func TestPlanEchoesTheConfiguration(t *testing.T) {
	provider := google(t)
	kind := provider.served["google_compute_subnetwork"].ValueType()
	object, ok := kind.(tftypes.Object)
	if !ok {
		t.Fatalf("a resource is a %T", kind)
	}
	members := map[string]tftypes.Value{}
	for name, member := range object.AttributeTypes {
		members[name] = tftypes.NewValue(member, nil)
	}
	members["name"] = tftypes.NewValue(tftypes.String, "pods")
	ranges := object.AttributeTypes["secondary_ip_range"]
	secondary, ok := ranges.(tftypes.List)
	if !ok {
		t.Fatalf("secondary_ip_range is a %T", ranges)
	}
	members["secondary_ip_range"] = tftypes.NewValue(ranges, []tftypes.Value{
		tftypes.NewValue(secondary.ElementType, map[string]tftypes.Value{
			"range_name":              tftypes.NewValue(tftypes.String, "pods"),
			"ip_cidr_range":           tftypes.NewValue(tftypes.String, nil),
			"reserved_internal_range": tftypes.NewValue(tftypes.String, nil),
		}),
	})
	proposed, err := tfprotov5.NewDynamicValue(kind, tftypes.NewValue(kind, members))
	if err != nil {
		t.Fatal(err)
	}

	response, err := provider.PlanResourceChange(t.Context(), &tfprotov5.PlanResourceChangeRequest{
		TypeName: "google_compute_subnetwork", ProposedNewState: &proposed,
	})
	if err != nil {
		t.Fatal(err)
	}
	planned, err := response.PlannedState.Unmarshal(kind)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		value tftypes.Value
		is    string
	}{
		{at(t, planned, "name"), `tftypes.String<"pods">`},
		{at(t, planned, "self_link"), "tftypes.String<unknown>"},
		{at(t, planned, "description"), "tftypes.String<null>"},
		{at(t, planned, "secondary_ip_range", 0, "range_name"), `tftypes.String<"pods">`},
		{at(t, planned, "secondary_ip_range", 0, "ip_cidr_range"), "tftypes.String<unknown>"},
		{at(t, planned, "secondary_ip_range", 0, "reserved_internal_range"), "tftypes.String<null>"},
	} {
		if got := want.value.String(); got != want.is {
			t.Errorf("got %s, want %s", got, want.is)
		}
	}
}

// at is a value inside another, by the names of attributes and the places in
// lists.
func at(t *testing.T, value tftypes.Value, steps ...any) tftypes.Value {
	t.Helper()
	path := tftypes.NewAttributePath()
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			path = path.WithAttributeName(step)
		case int:
			path = path.WithElementKeyInt(step)
		}
	}
	found, _, err := tftypes.WalkAttributePath(value, path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	inner, ok := found.(tftypes.Value)
	if !ok {
		t.Fatalf("%s is a %T", path, found)
	}
	return inner
}
