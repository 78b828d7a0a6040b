// SPDX-License-Identifier: Apache-2.0

package nodeconfig_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

var host = nodeconfig.Host{
	Files:         nodeconfig.DefaultFiles,
	P2PListen:     "127.0.0.1:26602",
	HTTPListen:    "127.0.0.1:26702",
	AdminListen:   "127.0.0.1:26802",
	WorkerThreads: 2,
	LogFormat:     nodeconfig.LogFormatText,
}

func TestConfig(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	config, err := nodeconfig.NewConfig(fixture.network, fixture.plan, fixture.plan.Nodes[2], host)
	if err != nil {
		t.Fatal(err)
	}
	content, err := nodeconfig.Encode(config)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "config.json", content)
}

// Where spans go is the network's to say, unless the place knows better.
func TestTracing(t *testing.T) {
	t.Parallel()
	here := &nodeconfig.Tracing{Endpoint: "http://127.0.0.1:4318", SampleBasisPoints: 10_000}
	wanted := &v1alpha1.TracingSpec{Endpoint: "http://collector:4318", SampleBasisPoints: 250}
	for name, test := range map[string]struct {
		spec *v1alpha1.TracingSpec
		host *nodeconfig.Tracing
		want *nodeconfig.Tracing
	}{
		"none":            {},
		"of the network":  {spec: wanted, want: &nodeconfig.Tracing{Endpoint: "http://collector:4318", SampleBasisPoints: 250}},
		"of the place":    {host: here, want: here},
		"the place first": {spec: wanted, host: here, want: here},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture, host := newFixture(t), host
			fixture.network.Spec.Tracing, host.Tracing = test.spec, test.host
			config, err := nodeconfig.NewConfig(fixture.network, fixture.plan, fixture.plan.Nodes[0], host)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(config.Tracing, test.want) {
				t.Errorf("tracing is %+v, want %+v", config.Tracing, test.want)
			}
		})
	}
}

// A node knows the links that end in its region, and each once.
func TestLinks(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	fixture.network.Spec.Links = []v1alpha1.LinkSpec{
		{Between: []string{"south", "south"}, BandwidthMegabitsPerSecond: 100},
		{Between: []string{"south", "north"}, DelayMilliseconds: 40, LossBasisPoints: 1},
	}
	plan, err := topology.New(fixture.network)
	if err != nil {
		t.Fatal(err)
	}
	for _, validator := range plan.Nodes {
		config, err := nodeconfig.NewConfig(fixture.network, plan, validator, host)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]nodeconfig.Link{
			"north": {{Region: "south", DelayMilliseconds: 40, LossBasisPoints: 1}},
			"south": {
				{Region: "north", DelayMilliseconds: 40, LossBasisPoints: 1},
				{Region: "south", BandwidthMegabitsPerSecond: 100},
			},
		}[validator.Region]
		if !reflect.DeepEqual(config.Links, want) {
			t.Errorf("%s in %s has the links %+v, want %+v", validator.Name, validator.Region, config.Links, want)
		}
	}
}

// Without links nothing is said of regions: documents of networks that have
// none stay as they are.
func TestRegionsOfPeersAreThereForLinks(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	for name, links := range map[string][]v1alpha1.LinkSpec{"links": fixture.network.Spec.Links, "none": nil} {
		fixture.network.Spec.Links = links
		plan, err := topology.New(fixture.network)
		if err != nil {
			t.Fatal(err)
		}
		peers, err := nodeconfig.NewPeers(plan, fixture.publicKeys, fixture.addresses)
		if err != nil {
			t.Fatal(err)
		}
		for i, peer := range peers.Peers {
			want := ""
			if len(links) > 0 {
				want = plan.Nodes[i].Region
			}
			if peer.Region != want {
				t.Errorf("%s: the region of %s is %q, want %q", name, peer.Name, peer.Region, want)
			}
		}
	}
}

// The document has every validator at its address, in the plan's order.
func TestPeers(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	peers, err := nodeconfig.NewPeers(fixture.plan, fixture.publicKeys, fixture.addresses)
	if err != nil {
		t.Fatal(err)
	}
	content, err := nodeconfig.Encode(peers)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "peers.json", content)
}

// All nodes know which of them are archives, which genesis does not name.
func TestArchivesAreNamedByPeersAlone(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	archive := fixture.plan.Nodes[len(fixture.plan.Nodes)-1]
	archive.Role = topology.RoleArchive
	fixture.plan.Nodes[len(fixture.plan.Nodes)-1] = archive
	peers, err := nodeconfig.NewPeers(fixture.plan, fixture.publicKeys, fixture.addresses)
	if err != nil {
		t.Fatal(err)
	}
	for _, peer := range peers.Peers {
		if peer.Archive != (peer.Name == archive.Name) {
			t.Errorf("%s is an archive: %t", peer.Name, peer.Archive)
		}
	}
	genesis, err := nodeconfig.NewGenesis(fixture.network, fixture.plan, fixture.publicKeys, time.UnixMilli(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, validator := range genesis.Validators {
		if validator.Name == archive.Name {
			t.Errorf("genesis names %s", archive.Name)
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*fixture, *nodeconfig.Host)
		want   string
	}{
		"no key": {
			func(f *fixture, _ *nodeconfig.Host) { delete(f.publicKeys, "quickstart-s0-p1") },
			"validator quickstart-s0-p1 has no public key",
		},
		"no address": {
			func(f *fixture, _ *nodeconfig.Host) { delete(f.addresses, "quickstart-s0-p1") },
			"validator quickstart-s0-p1 has no p2p address",
		},
		"address without port": {
			func(f *fixture, _ *nodeconfig.Host) { f.addresses["quickstart-s0-p1"] = "127.0.0.1" },
			"p2p address of validator quickstart-s0-p1: address 127.0.0.1: missing port",
		},
		"address without host": {
			func(f *fixture, _ *nodeconfig.Host) { f.addresses["quickstart-s0-p1"] = ":26600" },
			"p2p address of validator quickstart-s0-p1: address :26600: missing host",
		},
		"address with a named port": {
			func(f *fixture, _ *nodeconfig.Host) { f.addresses["quickstart-s0-p1"] = "localhost:http" },
			"p2p address of validator quickstart-s0-p1: address localhost:http: port must be a number",
		},
		"address with port 0": {
			func(f *fixture, _ *nodeconfig.Host) { f.addresses["quickstart-s0-p1"] = "localhost:0" },
			"p2p address of validator quickstart-s0-p1: address localhost:0: port must be a number",
		},
		"listen without port": {
			func(_ *fixture, h *nodeconfig.Host) { h.P2PListen = "127.0.0.1" },
			"p2p listen address of validator quickstart-s0-p0: not an ip:port",
		},
		"listen on a name": {
			func(_ *fixture, h *nodeconfig.Host) { h.P2PListen = "localhost:26600" },
			"p2p listen address of validator quickstart-s0-p0: ",
		},
		"http listen on nothing": {
			func(_ *fixture, h *nodeconfig.Host) { h.HTTPListen = "" },
			"http listen address of validator quickstart-s0-p0: not an ip:port",
		},
		"admin listen on nothing": {
			func(_ *fixture, h *nodeconfig.Host) { h.AdminListen = "" },
			"admin listen address of validator quickstart-s0-p0: not an ip:port",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture, host := newFixture(t), host
			plan := *fixture.plan
			plan.Nodes = append(plan.Nodes[:0:0], plan.Nodes...)
			test.change(fixture, &host)
			_, err := nodeconfig.NewPeers(&plan, fixture.publicKeys, fixture.addresses)
			if err == nil {
				_, err = nodeconfig.NewConfig(fixture.network, fixture.plan, fixture.plan.Nodes[0], host)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want it to say %q", err, test.want)
			}
		})
	}
}
