// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"slices"
	"testing"
)

func TestServerLog(t *testing.T) {
	const (
		starts  = "level=INFO msg=\"Starting TSDB ...\"\n"
		listens = "level=INFO msg=\"Listening on\" address=127.0.0.1:41001\n"
		loads   = "level=INFO msg=\"Server is ready to receive web requests.\"\n"
	)
	for name, test := range map[string]struct {
		lines []string
		ready bool
	}{
		"listens, then has read":      {[]string{starts, listens, loads}, true},
		"has read, then listens":      {[]string{starts, loads, listens}, true},
		"says both at once":           {[]string{loads + starts + listens}, true},
		"says its address in pieces":  {[]string{loads, listens[:40], listens[40:]}, true},
		"listens alone":               {[]string{starts, listens}, false},
		"has read alone":              {[]string{starts, loads}, false},
		"has not said all of address": {[]string{loads, listens[:len(listens)-3]}, false},
		"goes on when it is ready":    {[]string{listens, loads, starts, loads}, true},
	} {
		t.Run(name, func(t *testing.T) {
			log := &serverLog{address: make(chan string, 1)}
			for _, line := range test.lines {
				if n, err := log.Write([]byte(line)); n != len(line) || err != nil {
					t.Fatalf("it takes %d bytes of %d: %v", n, len(line), err)
				}
			}
			var addresses []string
			for len(log.address) > 0 {
				addresses = append(addresses, <-log.address)
			}
			var want []string
			if test.ready {
				want = []string{"127.0.0.1:41001"}
			}
			if !slices.Equal(addresses, want) {
				t.Errorf("it finds %v, want %v", addresses, want)
			}
		})
	}
}
