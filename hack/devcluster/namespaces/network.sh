# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The network between the nodes: a bridge in a namespace of its own, with one cable to each node's namespace and one to
# the machine, whose processes reach the API server through it. The bridges of several clusters are connected, so that
# all their nodes and pods reach each other. Removing the namespaces removes everything. The range is one that RFC 2544
# sets aside for test networks, so that it is nobody's real network.

switch=$cluster_name-switch
cable=${cluster_name}0
machine_address=198.18.$((cluster - 1)).1

# network_namespace NODE names a node's namespace.
network_namespace() { echo "$cluster_name-$1"; }

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
	network_connect
}

# network_connect connects the bridge with that of the cluster before it and that of the one after it: in a row, so that
# there is no loop.
network_connect() {
	local neighbour other
	for neighbour in $((cluster - 1)) $((cluster + 1)); do
		other=shardyard$(suffix "$neighbour")-switch
		[[ -e /run/netns/$other ]] || continue
		ip -n "$switch" link add "to-$neighbour" type veth peer name "to-$cluster" netns "$other"
		ip -n "$switch" link set "to-$neighbour" master bridge up
		ip -n "$other" link set "to-$cluster" master bridge up
	done
}

# network_node_up INDEX makes a node's namespace and plugs it in.
network_node_up() {
	local index=$1 node namespace
	node=$(node_name "$index")
	namespace=$(network_namespace "$node")
	network_remove "$namespace"
	ip netns add "$namespace"
	ip -n "$namespace" link set lo up
	ip -n "$switch" link add "$node" type veth peer name eth0 netns "$namespace"
	ip -n "$switch" link set "$node" master bridge up
	# The nodes of all clusters are on one wire.
	ip -n "$namespace" address add "$(node_address "$index")/16" dev eth0
	ip -n "$namespace" link set eth0 up
	# Nothing behind the machine answers; without a default route, packets to service addresses would not even start.
	ip -n "$namespace" route add default via "$machine_address"
	network_routes "$index" "$namespace"
	ip netns exec "$namespace" sysctl -qw net.ipv4.ip_forward=1
}

# network_routes INDEX NAMESPACE leads to the pods of all other nodes, of all clusters, and to the Services of the other
# clusters by way of their first nodes.
network_routes() {
	local index=$1 namespace=$2 there other
	for there in $(seq "$max_clusters"); do
		for other in $(seq "$max_nodes"); do
			[[ $there == "$cluster" && $other == "$index" ]] ||
				echo "route add $(node_pods "$other" "$there") via $(node_address "$other" "$there")"
		done
		[[ $there == "$cluster" ]] || echo "route add $(cluster_services "$there") via $(node_address 1 "$there")"
	done | ip -n "$namespace" -batch -
}

# network_remove NAMESPACE removes a namespace, if it is there, and the cables that end in it.
network_remove() {
	[[ ! -e /run/netns/$1 ]] || ip netns delete "$1"
}

network_down() {
	local namespace
	for namespace in $(ip netns list | awk -v name="$cluster_name-" 'index($1, name) == 1 { print $1 }'); do
		network_remove "$namespace"
	done
}
