# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The cluster in the machine's own namespaces.

# shellcheck source=hack/devcluster/cgroup.sh
source "$devcluster/cgroup.sh"
# shellcheck source=hack/devcluster/network.sh
source "$devcluster/network.sh"
# shellcheck source=hack/devcluster/pki.sh
source "$devcluster/pki.sh"
# shellcheck source=hack/devcluster/node.sh
source "$devcluster/node.sh"

up() {
	local index name archive archives started=()
	cgroup_check
	"$devcluster/tools.sh"
	mapfile -t archives < <("$devcluster/images.sh")

	echo namespaces >"$state/provider"
	[[ -f $kubeconfig ]] || pki_control_plane
	network_switch_up
	for index in $(seq "$nodes"); do
		name=$(node_name "$index")
		node_running "$name" && continue
		node_up "$index" "$(node_region "$index")"
		wait_for 10 "the first process of $name" node_running "$name"
		started+=("$name")
	done
	if [[ ${#started[@]} -eq 0 ]]; then
		echo "devcluster: already up"
		return
	fi

	wait_for 120 "the API server" kubectl get --raw /readyz
	for name in "${started[@]}"; do
		wait_for 60 "containerd on $name" node_run "$name" ctr version
		for archive in "${archives[@]}"; do
			node_load "$name" "$archive"
		done
	done
	kubectl apply --filename "$devcluster/manifests" >/dev/null
	for name in "${started[@]}"; do
		wait_for 60 "registration of $name" kubectl get node "$name"
	done
	kubectl wait --for condition=Ready --timeout 120s node --all >/dev/null
	kubectl --namespace kube-system rollout status --timeout 120s deployment/coredns >/dev/null
	kubectl --namespace local-path-storage rollout status --timeout 120s deployment/local-path-provisioner >/dev/null
}

down() {
	local name
	for name in $(cgroup_nodes); do
		wait_for 30 "the end of $name" node_gone "$name"
	done
	cgroup_remove
	network_down
}

load() {
	local name archive
	for name in $(cgroup_nodes); do
		for archive in "$@"; do
			node_load "$name" "$archive"
		done
	done
}
