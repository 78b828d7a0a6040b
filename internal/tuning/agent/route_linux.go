// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/shardyard/shardyard/internal/tuning"
)

// errNoDefaultRoute is a machine that reaches nothing but its neighbours.
var errNoDefaultRoute = errors.New("the machine has no IPv4 default route")

// errRouteGone is a route that was there and is no more.
var errRouteGone = errors.New("the route is gone")

// route is a default route and the interfaces that it leaves by.
type route struct {
	netlink.Route
	name       string
	interfaces []string
}

// listDefaultRoutes are the machine's IPv4 default routes.
func listDefaultRoutes() ([]route, error) {
	found, err := consistent(func() ([]netlink.Route, error) {
		return netlink.RouteListFiltered(unix.AF_INET, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_TABLE)
	})
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	var routes []route
	for i := range found {
		if !isDefault(&found[i]) {
			continue
		}
		route, err := newRoute(&found[i])
		if err != nil {
			return nil, err
		}
		routes = append(routes, route)
	}
	if len(routes) == 0 {
		return nil, errNoDefaultRoute
	}
	return routes, nil
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

// newRoute names a route by what tells it from others, and not by the metrics
// that are about to change.
func newRoute(found *netlink.Route) (route, error) {
	r := route{Route: *found, name: "default"}
	hops := []*netlink.NexthopInfo{{LinkIndex: found.LinkIndex, Gw: found.Gw}}
	if len(found.MultiPath) > 0 {
		hops = found.MultiPath
	}
	for _, hop := range hops {
		link, err := netlink.LinkByIndex(hop.LinkIndex)
		if err != nil {
			return route{}, fmt.Errorf("find interface %d: %w", hop.LinkIndex, err)
		}
		if hop.Gw != nil {
			r.name += " via " + hop.Gw.String()
		}
		r.name += " dev " + link.Attrs().Name
		r.interfaces = append(r.interfaces, link.Attrs().Name)
	}
	if found.Priority != 0 {
		r.name += " metric " + strconv.Itoa(found.Priority)
	}
	return r, nil
}

// defaultRoutes are the names of the default routes.
func defaultRoutes() ([]string, error) {
	routes, err := listDefaultRoutes()
	names := make([]string, 0, len(routes))
	for i := range routes {
		names = append(names, routes[i].name)
	}
	return names, err
}

// defaultInterfaces are the interfaces that default routes leave by.
func defaultInterfaces() ([]string, error) {
	routes, err := listDefaultRoutes()
	var names []string
	for i := range routes {
		names = append(names, routes[i].interfaces...)
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// routeMetric is a metric of one default route. 0 is what the kernel takes for
// itself.
type routeMetric struct {
	route string
	kind  tuning.Kind
}

// find reads the route as it is now.
func (m routeMetric) find() (*netlink.Route, error) {
	routes, err := listDefaultRoutes()
	if errors.Is(err, errNoDefaultRoute) {
		return nil, errRouteGone
	}
	for i := range routes {
		if routes[i].name == m.route {
			return &routes[i].Route, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return nil, errRouteGone
}

func (m routeMetric) field(route *netlink.Route) *int {
	if m.kind == tuning.KindInitRwnd {
		return &route.InitRwnd
	}
	return &route.InitCwnd
}

func (m routeMetric) read() (string, error) {
	route, err := m.find()
	if err != nil {
		return "", err
	}
	return strconv.Itoa(*m.field(route)), nil
}

func (m routeMetric) original() (string, error) { return m.read() }

func (m routeMetric) write(wanted string) error {
	segments, err := strconv.Atoi(wanted)
	if err != nil {
		return fmt.Errorf("read %s: %w", m.kind, err)
	}
	route, err := m.find()
	if err != nil {
		return err
	}
	*m.field(route) = segments
	// The others of a route's flags say how it is, and the kernel takes none of
	// them.
	route.Flags &= unix.RTNH_F_ONLINK | unix.RTNH_F_PERVASIVE
	if err := netlink.RouteChange(route); err != nil {
		return fmt.Errorf("change %s of the route %q: %w", m.kind, m.route, err)
	}
	return nil
}

func (m routeMetric) restore(original string) error {
	now, err := m.read()
	if errors.Is(err, errRouteGone) || now == original {
		return nil
	}
	if err != nil {
		return err
	}
	return m.write(original)
}
