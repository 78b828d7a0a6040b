// SPDX-License-Identifier: Apache-2.0

// Command coredns is CoreDNS with the plugins that a cluster's DNS needs, without the clients of every cloud that the
// full build carries.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
)

func init() {
	// The order in which plugins answer, as in CoreDNS's own plugin.cfg.
	dnsserver.Directives = []string{
		"ready", "health", "prometheus", "errors", "cache", "loadbalance", "kubernetes", "forward",
	}
}

func main() {
	coremain.Run()
}
