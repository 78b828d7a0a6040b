# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# A node: a box of the machine's namespaces and control groups in which everything that a real node runs, runs.

# node_up INDEX starts a node that is not running.
node_up() {
	local index=$1 node
	node=$(node_name "$index")
	node_files "$index"
	network_node_up "$index"
	(
		cgroup_enter "$node"
		exec setsid nsenter --net="/run/netns/$(network_namespace "$node")" unshare --cgroup \
			env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
			NODE="$node" ADDRESS="$(node_address "$index")" CACHE="$cache" STATE="${state#"$cache/"}" \
			SERVICES="$(cluster_services "$cluster")" \
			CONTROL_PLANE="$([[ $index == 1 ]] && echo yes || echo no)" INIT_GROUP="$(cgroup_init "$node")" \
			"$devcluster/namespaces/node/start.sh"
	) >"$state/nodes/$node/log/init.log" 2>&1 </dev/null &
	disown
	wait_for 10 "the first process of $node" node_running "$node"
}

# node_files INDEX writes what a node reads.
node_files() {
	local index=$1 node folder file
	node=$(node_name "$index")
	folder=$state/nodes/$node
	mkdir -p "$folder/cni" "$folder/log"
	: >"$folder/resolv.conf"
	pki_node "$index"
	ln -f "$pki/$node.crt" "$folder/kubelet.crt"
	ln -f "$pki/$node.key" "$folder/kubelet.key"
	for file in kubelet.yaml kube-proxy.yaml; do
		cluster_values <"$devcluster/namespaces/node/$file" >"$folder/$file"
	done
	sed "s|@PODS@|$(node_pods "$index")|" "$devcluster/namespaces/node/cni.conflist" >"$folder/cni/pods.conflist"
	sed "s|@SNAPSHOTTER@|$(snapshotter)|" "$devcluster/namespaces/node/containerd.toml" >"$folder/containerd.toml"
}

# cluster_values fills in what differs from cluster to cluster.
cluster_values() {
	local there forwards=""
	for there in $(seq "$max_clusters"); do
		[[ $there == "$cluster" ]] || forwards+="$(forward_names "$there")"
	done
	sed -e "s|@DOMAIN@|$(cluster_domain "$cluster")|" -e "s|@DNS@|$(cluster_dns "$cluster")|" \
		-e "s|@PODS@|$(cluster_pods "$cluster")|" -e "s|^@FORWARDS@$|$forwards|"
}

# forward_names CLUSTER prints the part of CoreDNS's configuration that asks another cluster for its names.
forward_names() {
	printf '    %s:53 {\\n        errors\\n        cache 5\\n        forward . %s\\n    }\\n' \
		"$(cluster_domain "$1")" "$(cluster_dns "$1")"
}

# snapshotter prints how containers get their root file systems: by overlays, or by copies where the folder of the
# state is itself an overlay and cannot carry another.
snapshotter() {
	if [[ $(stat -fc %T "$state") == overlayfs ]]; then echo native; else echo overlayfs; fi
}

# node_running NODE tells whether a node's first process is there.
node_running() {
	[[ -n $(node_process "$1") ]]
}

# node_process NODE prints the id of a node's first process: that which is number 1 one level further down.
node_process() {
	local process
	for process in $(cgroup_processes "$1"); do
		if awk '$1 == "NSpid:" { found = NF == 3 && $3 == 1 } END { exit !found }' "/proc/$process/status" 2>/dev/null
		then
			echo "$process"
			return
		fi
	done
}

# node_run NODE COMMAND... runs a command inside a node.
node_run() {
	local node=$1
	shift
	nsenter --target "$(node_process "$node")" --net --mount --pid --uts --ipc -- \
		env PATH="/run/devcluster/bin:$PATH" "$@"
}

# node_load NODE ARCHIVE puts the images of an archive into a node's store.
node_load() {
	local output
	output=$(node_run "$1" ctr --namespace k8s.io images import - <"$2" 2>&1) || fail "load $2 onto $1: $output"
}

# node_kill NODE ends all processes of a node.
node_kill() {
	local process
	for process in $(cgroup_processes "$1"); do
		kill -KILL "$process" 2>/dev/null || true
	done
}

# node_gone NODE tells whether no process of a node is left, and kills those that have come since.
node_gone() {
	node_kill "$1"
	[[ -z $(cgroup_processes "$1") ]]
}
