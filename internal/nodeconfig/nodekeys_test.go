// SPDX-License-Identifier: Apache-2.0

package nodeconfig_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/nodeconfig"
)

// Whatever somebody puts among the documents of peers, validators are known by the key that
// genesis names, and others by no key of which there is more than one.
func TestNodeKeys(t *testing.T) {
	t.Parallel()
	key := func(digit string) string { return strings.Repeat(digit, 64) }
	peers := func(names ...string) []byte {
		var told []string
		for _, name := range names {
			name, digit, _ := strings.Cut(name, "=")
			told = append(told, `{"name":"`+name+`","publicKey":"`+key(digit)+`"}`)
		}
		return []byte(`{"peers":[` + strings.Join(told, ",") + `]}`)
	}
	genesis := []byte(`{"validators":[{"name":"p0","publicKey":"` + key("a") + `"}]}`)
	for name, test := range map[string]struct {
		documents [][]byte
		want      []string
	}{
		"none":               {nil, []string{"p0"}},
		"one":                {[][]byte{peers("p0=a", "r0=b")}, []string{"p0", "r0"}},
		"those of before":    {[][]byte{peers("p0=a", "r0=b"), peers("p0=a", "r0=b")}, []string{"p0", "r0"}},
		"another key":        {[][]byte{peers("p0=c", "r0=b"), peers("r0=c"), peers("r0=c")}, []string{"p0"}},
		"something else":     {[][]byte{[]byte("{"), peers("r0=b")}, []string{"p0", "r0"}},
		"no key":             {[][]byte{[]byte(`{"peers":[{"name":"r1","publicKey":"z"}]}`), peers("r0=b")}, []string{"p0", "r0"}},
		"a key of no length": {[][]byte{[]byte(`{"peers":[{"name":"r1","publicKey":""}]}`), peers("r0=b")}, []string{"p0", "r0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, err := nodeconfig.NodeKeys(genesis, test.documents...)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, test.want) || keys["p0"][0] != 0xaa {
				t.Errorf("the keys are %x, want those of %s", keys, test.want)
			}
		})
	}
	if _, err := nodeconfig.NodeKeys([]byte("{"), peers("r0=b")); err == nil || !strings.Contains(err.Error(), "read genesis document") {
		t.Errorf("of a genesis document that is cut short, the error is %v", err)
	}
}
