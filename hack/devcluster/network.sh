# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The network between the nodes: a bridge in a namespace of its own, with one cable to each node's namespace and one to
# the machine, whose processes reach the API server through it. Removing the namespaces removes everything. The range
# is one that RFC 2544 sets aside for test networks, so that it is nobody's real network.

switch=shardyard-switch
cable=shardyard0
machine_address=198.18.0.1

# network_namespace NODE names a node's namespace.
network_namespace() { echo "shardyard-$1"; }

network_switch_up() {
	# The cable to the machine comes last: without it, an earlier start was interrupted.
	[[ -z $(ip link show up dev "$cable" 2>/dev/null) ]] || return 0
	network_remove "$switch"
	local routes
	routes=$(ip -4 route show match "$(node_address 1)" | grep -v ^default || true)
	[[ -z $routes ]] || fail "this machine already has a route to the nodes' range: $routes"
	ip netns add "$switch"
	ip -n "$switch" link add bridge type bridge
	ip -n "$switch" link set bridge up
	ip link add "$cable" type veth peer name machine netns "$switch"
	ip -n "$switch" link set machine master bridge up
	ip address add "$machine_address/24" dev "$cable"
	ip link set "$cable" up
}

# network_node_up INDEX makes a node's namespace and plugs it in.
network_node_up() {
	local index=$1 name namespace other
	name=$(node_name "$index")
	namespace=$(network_namespace "$name")
	network_remove "$namespace"
	ip netns add "$namespace"
	ip -n "$namespace" link set lo up
	ip -n "$switch" link add "$name" type veth peer name eth0 netns "$namespace"
	ip -n "$switch" link set "$name" master bridge up
	ip -n "$namespace" address add "$(node_address "$index")/24" dev eth0
	ip -n "$namespace" link set eth0 up
	# Nothing behind the machine answers; without a default route, packets to service addresses would not even start.
	ip -n "$namespace" route add default via "$machine_address"
	for other in $(seq "$max_nodes"); do
		[[ $other == "$index" ]] || ip -n "$namespace" route add "$(node_pods "$other")" via "$(node_address "$other")"
	done
	ip netns exec "$namespace" sysctl -qw net.ipv4.ip_forward=1
}

# network_remove NAMESPACE removes a namespace, if it is there, and the cables that end in it.
network_remove() {
	[[ ! -e /run/netns/$1 ]] || ip netns delete "$1"
}

network_down() {
	local namespace
	for namespace in $(ip netns list | awk '/^shardyard-/ { print $1 }'); do
		network_remove "$namespace"
	done
}
