# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts of the development clusters share: where things are, and how they wait and fail. The environment may
# give CLUSTER, the number of one of several that run side by side and reach each other.
# shellcheck disable=SC2034 # not every script uses everything

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
devcluster=$root/hack/devcluster
cache=${XDG_CACHE_HOME:-$HOME/.cache}/shardyard

# Each cluster has a /16 of its own for its pods, for its Services and for its nodes' addresses.
max_clusters=3
cluster=${CLUSTER:-1}
[[ $cluster =~ ^[1-$max_clusters]$ ]] || {
	echo "devcluster: CLUSTER is $cluster, not a number from 1 to $max_clusters" >&2
	exit 1
}
# suffix CLUSTER tells what is another cluster's from what is the first one's, where both have names on this machine.
suffix() { [[ $1 == 1 ]] || echo "$1"; }
cluster_name=shardyard$(suffix "$cluster")
state=$cache/devcluster$(suffix "$cluster")
kubeconfig=$state/kubeconfig
logs="$state/nodes/*/log"

nodes=${NODES:-1}
IFS=, read -ra regions <<<"${REGIONS:-local}"

# What the cluster of fake machines runs.
kwok_tools=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok)

# Each node has a /24 of the pods' range, so this many fit what the addresses below leave room for.
max_nodes=16

fail() {
	echo "devcluster: $*" >&2
	exit 1
}

# wait_for SECONDS WHAT COMMAND... polls COMMAND until it succeeds.
wait_for() {
	local deadline=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		((SECONDS < deadline)) || fail "$what: waited in vain; the logs are in $logs"
		sleep 0.2
	done
}

# wait_for_jobs waits for all that this shell has in the background, and fails if any of them failed.
wait_for_jobs() {
	local job failed=0
	for job in $(jobs -p); do
		wait "$job" || failed=1
	done
	return "$failed"
}

# kubectl is the pinned one, on this cluster.
kubectl() {
	"$state/bin/kubectl" --kubeconfig "$kubeconfig" "$@"
}

# cluster_domain, cluster_dns, cluster_services and cluster_pods give a cluster's DNS domain, the address of its DNS, and
# the ranges of its Services and pods. They take the number of the cluster.
cluster_domain() { echo "cluster$(suffix "$1").local"; }
cluster_dns() { echo "10.$((95 + $1)).0.10"; }
cluster_services() { echo "10.$((95 + $1)).0.0/16"; }
cluster_pods() { echo "10.$((243 + $1)).0.0/16"; }

# node_name INDEX, node_address INDEX and node_pods INDEX give a node's name, its address and its pods' range; the last
# two may be asked of another CLUSTER.
node_name() { echo "node-$1"; }
node_address() { echo "198.18.$((${2:-$cluster} - 1)).$((10 + $1))"; }
node_pods() { echo "10.$((243 + ${2:-$cluster})).$1.0/24"; }

# node_region INDEX gives a node's region: the nodes take turns.
node_region() { echo "${regions[$((($1 - 1) % ${#regions[@]}))]}"; }
