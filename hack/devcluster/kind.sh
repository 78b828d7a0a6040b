# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The cluster in Docker containers, by kind.

kind_cluster=$cluster_name

kind() {
	KIND_CLUSTER_NAME=$kind_cluster "$("$root/hack/tool.sh" kind)" "$@"
}

# kind_config prints the nodes with their regions, and lets their kubelets grant what validators set for themselves.
kind_config() {
	local index
	cat <<-CONFIG
		kind: Cluster
		apiVersion: kind.x-k8s.io/v1alpha4
		kubeadmConfigPatches:
		  - |
		    kind: KubeletConfiguration
		    allowedUnsafeSysctls: ["net.core.*", "net.ipv4.*"]
		nodes:
	CONFIG
	for index in $(seq "$nodes"); do
		cat <<-NODE
			  - role: $([[ $index == 1 ]] && echo control-plane || echo worker)
			    labels:
			      topology.kubernetes.io/region: $(node_region "$index")
		NODE
	done
}

exists() {
	kind get clusters 2>/dev/null | grep -qx "$kind_cluster"
}

prepare() {
	"$root/hack/tool.sh" kind >/dev/null
	"$root/hack/tool.sh" kubectl >/dev/null
}

up() {
	((cluster == 1)) || fail "clusters of kind do not reach each other's pods: CLUSTER is for the machine's own namespaces"
	if [[ -f $kubeconfig ]]; then
		local have
		have=$(kind get nodes | wc -l)
		((have == nodes)) || fail "the cluster has $have node(s): make cluster-down before changing NODES"
		echo "devcluster: already up"
		return
	fi
	mkdir -p "$state"
	echo kind >"$state/provider"
	kind create cluster --kubeconfig "$kubeconfig" --config <(kind_config) --wait 120s
	# With workers, kind keeps pods off the first node, which counts like any other here.
	"$("$root/hack/tool.sh" kubectl)" --kubeconfig "$kubeconfig" taint node --all \
		node-role.kubernetes.io/control-plane:NoSchedule- >/dev/null 2>&1 || ((nodes == 1))
}

down() {
	kind delete cluster --kubeconfig "$kubeconfig"
}

load() {
	local archive
	for archive in "$@"; do
		kind load image-archive "$archive"
	done
}
