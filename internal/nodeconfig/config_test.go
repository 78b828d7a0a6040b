// SPDX-License-Identifier: Apache-2.0

package nodeconfig_test

import (
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/nodeconfig"
)

var host = nodeconfig.Host{
	Files:         nodeconfig.DefaultFiles,
	P2PListen:     "127.0.0.1:26602",
	HTTPListen:    "127.0.0.1:26702",
	WorkerThreads: 2,
	LogFormat:     nodeconfig.LogFormatText,
}

func TestConfig(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	peers, err := nodeconfig.Peers(fixture.plan, fixture.publicKeys, fixture.addresses)
	if err != nil {
		t.Fatal(err)
	}
	config, err := nodeconfig.NewConfig(fixture.network, fixture.plan.Validators[2], peers, host)
	if err != nil {
		t.Fatal(err)
	}
	content, err := nodeconfig.Encode(config)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "config.json", content)
}

// A node has every validator but itself as a peer, and making its
// configuration leaves the list alone for the next one.
func TestPeersOfEveryValidator(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	peers, err := nodeconfig.Peers(fixture.plan, fixture.publicKeys, fixture.addresses)
	if err != nil {
		t.Fatal(err)
	}
	for i, validator := range fixture.plan.Validators {
		config, err := nodeconfig.NewConfig(fixture.network, validator, peers, host)
		if err != nil {
			t.Fatal(err)
		}
		want := append(append([]nodeconfig.Peer{}, peers[:i]...), peers[i+1:]...)
		if len(config.P2P.Peers) != len(want) {
			t.Fatalf("%s has %d peers, want %d", validator.Name, len(config.P2P.Peers), len(want))
		}
		for j, peer := range config.P2P.Peers {
			if peer != want[j] {
				t.Errorf("peer %d of %s is %+v, want %+v", j, validator.Name, peer, want[j])
			}
			if address := fixture.addresses[peer.Name]; peer.Address != address {
				t.Errorf("peer %s of %s is at %s, want %s", peer.Name, validator.Name, peer.Address, address)
			}
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
		"unknown validator": {
			func(f *fixture, _ *nodeconfig.Host) { f.plan.Validators[0].Name = "other-s0-p0" },
			"validator other-s0-p0 is 0 times among the peers",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture, host := newFixture(t), host
			plan := *fixture.plan
			plan.Validators = append(plan.Validators[:0:0], plan.Validators...)
			test.change(fixture, &host)
			peers, err := nodeconfig.Peers(&plan, fixture.publicKeys, fixture.addresses)
			if err == nil {
				_, err = nodeconfig.NewConfig(fixture.network, fixture.plan.Validators[0], peers, host)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want it to say %q", err, test.want)
			}
		})
	}
}
