// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// errNoDefaultRoute is a machine that reaches nothing but its neighbours.
var errNoDefaultRoute = errors.New("the machine has no IPv4 default route")

// defaultInterfaces are the interfaces that the machine's IPv4 default routes
// leave by.
func defaultInterfaces() ([]string, error) {
	found, err := consistent(func() ([]netlink.Route, error) {
		return netlink.RouteListFiltered(unix.AF_INET, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_TABLE)
	})
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	var names []string
	for i := range found {
		if !isDefault(&found[i]) {
			continue
		}
		hops := []*netlink.NexthopInfo{{LinkIndex: found[i].LinkIndex}}
		if len(found[i].MultiPath) > 0 {
			hops = found[i].MultiPath
		}
		for _, hop := range hops {
			link, err := netlink.LinkByIndex(hop.LinkIndex)
			if err != nil {
				return nil, fmt.Errorf("find interface %d: %w", hop.LinkIndex, err)
			}
			names = append(names, link.Attrs().Name)
		}
	}
	if len(names) == 0 {
		return nil, errNoDefaultRoute
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func isDefault(route *netlink.Route) bool {
	if route.Type != unix.RTN_UNICAST {
		return false
	}
	if route.Dst == nil {
		return true
	}
	ones, _ := route.Dst.Mask.Size()
	return ones == 0
}
