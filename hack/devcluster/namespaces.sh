# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The cluster in the machine's own namespaces. Their names are the machine's, so there is one such cluster of a number a
# machine.

# shellcheck source=hack/devcluster/namespaces/cgroup.sh
source "$devcluster/namespaces/cgroup.sh"
# shellcheck source=hack/devcluster/namespaces/network.sh
source "$devcluster/namespaces/network.sh"
# shellcheck source=hack/devcluster/pki.sh
source "$devcluster/pki.sh"
# shellcheck source=hack/devcluster/namespaces/node.sh
source "$devcluster/namespaces/node.sh"

exists() {
	[[ -n $(cgroup_nodes) || -e /run/netns/$switch ]]
}

prepare() {
	"$devcluster/namespaces/tools.sh"
	"$devcluster/namespaces/images.sh" >/dev/null
}

up() {
	local index started=0
	if [[ ! -f $state/provider ]] && exists; then
		fail "there are nodes whose state is not in $state: make cluster-down removes them"
	fi
	"$devcluster/namespaces/tools.sh" "$state/bin"
	"$devcluster/namespaces/images.sh" >/dev/null

	echo namespaces >"$state/provider"
	[[ -f $kubeconfig ]] || pki_control_plane
	network_switch_up
	for index in $(seq "$nodes"); do
		if ! node_running "$(node_name "$index")"; then
			node_up "$index"
			started=$((started + 1))
		fi
	done
	((started > 0)) || echo "devcluster: already up"

	wait_for 120 "the API server" kubectl get --raw /readyz
	local manifest
	for manifest in "$devcluster"/namespaces/manifests/*; do
		cluster_values <"$manifest" | kubectl apply --filename - >/dev/null
	done
	for index in $(seq "$nodes"); do
		load_own "$(node_name "$index")" &
	done
	wait_for_jobs
	wait_ready
}

# load_own NODE puts the images of the cluster's own pods onto a node, once.
load_own() {
	local node=$1 loaded=$state/nodes/$1/loaded archives
	[[ ! -f $loaded ]] || return 0
	mapfile -t archives < <("$devcluster/namespaces/images.sh")
	wait_for 60 "containerd on $node" node_run "$node" ctr version
	load_node "$node" "${archives[@]}"
	touch "$loaded"
}

# wait_ready returns when every node takes pods and the cluster's own pods serve.
wait_ready() {
	local index
	for index in $(seq "$nodes"); do
		wait_for 60 "the registration of $(node_name "$index")" kubectl get node "$(node_name "$index")"
		kubectl label --overwrite node "$(node_name "$index")" \
			topology.kubernetes.io/region="$(node_region "$index")" >/dev/null
	done
	kubectl wait --for condition=Ready --timeout 120s node --all >/dev/null
	for index in $(seq "$nodes"); do
		wait_for 60 "network policies on $(node_name "$index")" \
			node_run "$(node_name "$index")" nft list table inet netpol
	done
	kubectl --namespace kube-system rollout status --timeout 120s deployment/coredns >/dev/null
	kubectl --namespace local-path-storage rollout status --timeout 120s deployment/local-path-provisioner >/dev/null
}

down() {
	local node
	for node in $(cgroup_nodes); do
		wait_for 30 "the end of $node" node_gone "$node"
	done
	# Processes that are about to end hold on to their groups a little longer.
	wait_for 30 "the removal of the control groups" cgroup_remove
	network_down
}

load() {
	local node
	for node in $(cgroup_nodes); do
		load_node "$node" "$@" &
	done
	wait_for_jobs
}

# load_node NODE ARCHIVE... puts the images of archives onto a node.
load_node() {
	local node=$1 archive
	shift
	for archive in "$@"; do
		node_load "$node" "$archive"
	done
}
