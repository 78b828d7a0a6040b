# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts of the development cluster share: where things are, and how they wait and fail.
# shellcheck disable=SC2034 # not every script uses everything

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
devcluster=$root/hack/devcluster
cache=${XDG_CACHE_HOME:-$HOME/.cache}/shardyard
state=$cache/devcluster
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

# kubectl is the pinned one, on this cluster.
kubectl() {
	"$state/bin/kubectl" --kubeconfig "$kubeconfig" "$@"
}

# node_name INDEX, node_address INDEX and node_pods INDEX give a node's name, its address and its pods' range.
node_name() { echo "node-$1"; }
node_address() { echo "198.18.0.$((10 + $1))"; }
node_pods() { echo "10.244.$1.0/24"; }

# node_region INDEX gives a node's region: the nodes take turns.
node_region() { echo "${regions[$((($1 - 1) % ${#regions[@]}))]}"; }
