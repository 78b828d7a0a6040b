#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The first process of a node: prepares what the node sees of the machine, starts the node's servers and stays. Every
# other process of the node ends with it. The environment gives NODE, ADDRESS, CACHE (the machine's path of the cache),
# STATE (the folder of the cluster's state in it), SERVICES (the range of their addresses) and CONTROL_PLANE (yes on the
# first node).
set -euo pipefail

# mount_files gives the node its own /run, /var/lib and /var/log. Paths from here on are the same on every node:
# /run/devcluster is the cluster's state and /run/node the node's share of it.
mount_files() {
	mount --make-rprivate /
	# By way of /mnt, because the cache may itself be in one of the folders that are about to be hidden.
	mount --bind "$CACHE" /mnt
	mount -t tmpfs -o mode=0755 run /run
	mkdir -p /run/cache /run/lock /run/netns
	mount --move /mnt /run/cache
	ln -s "cache/$STATE" /run/devcluster
	ln -s "devcluster/nodes/$NODE" /run/node
	mount -t tmpfs -o mode=0755 log /var/log
	mount -t tmpfs -o mode=0755 lib /var/lib
	local folder
	for folder in containerd etcd kubelet local-path; do
		mkdir -p "/run/node/$folder" "/var/lib/$folder"
		mount --bind "/run/node/$folder" "/var/lib/$folder"
	done
}

# mount_system shows the node its own network devices and, as the roots of the trees, its own control groups.
mount_system() {
	local hierarchies=() hierarchy controller
	if [[ $(stat -fc %T /sys/fs/cgroup) != cgroup2fs ]]; then
		mapfile -t hierarchies < <(findmnt --raw --noheadings --types cgroup --output TARGET)
	fi
	mount -t sysfs sysfs /sys
	if [[ ${#hierarchies[@]} -eq 0 ]]; then
		mount -t cgroup2 cgroup /sys/fs/cgroup
		for controller in $(</sys/fs/cgroup/cgroup.controllers); do
			echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control
		done
		return
	fi
	mount -t tmpfs -o mode=0755 cgroup /sys/fs/cgroup
	for hierarchy in "${hierarchies[@]}"; do
		mkdir -p "$hierarchy"
		case $hierarchy in
		*/systemd) mount -t cgroup -o none,name=systemd cgroup "$hierarchy" ;;
		*) mount -t cgroup -o "$(basename "$hierarchy")" cgroup "$hierarchy" ;;
		esac
		for controller in $(basename "$hierarchy" | tr , ' '); do
			[[ -e /sys/fs/cgroup/$controller ]] || ln -s "$hierarchy" "/sys/fs/cgroup/$controller"
		done
	done
}

# pretend_sysctls shows kubelet the machine-wide settings that it insists on, so that it does not change the machine's.
pretend_sysctls() {
	local setting name value file
	for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
		kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
		name=${setting%=*} value=${setting#*=}
		file=/run/sysctl/${name//\//.}
		mkdir -p /run/sysctl
		echo "$value" >"$file"
		mount --bind "$file" "/proc/sys/$name"
	done
}

# serve NAME COMMAND... keeps a server running, as an init system does.
serve() {
	local name=$1
	shift
	(
		while :; do
			"$@" && code=0 || code=$?
			echo "$name ended with exit code $code" >&2
			sleep 1
		done
	) >>"/run/node/log/$name.log" 2>&1 &
}

serve_control_plane() {
	local pki=/run/devcluster/pki
	# A cluster for tests need not outlive a power cut.
	serve etcd etcd --data-dir /var/lib/etcd --unsafe-no-fsync --log-level warn \
		--listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
		--listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
		--initial-cluster default=http://127.0.0.1:2380
	serve kube-apiserver kube-apiserver --etcd-servers http://127.0.0.1:2379 \
		--bind-address 0.0.0.0 --advertise-address "$ADDRESS" --secure-port 6443 --allow-privileged \
		--tls-cert-file $pki/apiserver.crt --tls-private-key-file $pki/apiserver.key --client-ca-file $pki/ca.crt \
		--kubelet-client-certificate $pki/apiserver-kubelet.crt --kubelet-client-key $pki/apiserver-kubelet.key \
		--kubelet-certificate-authority $pki/ca.crt --kubelet-preferred-address-types InternalIP \
		--service-account-issuer https://kubernetes.default.svc --service-account-key-file $pki/sa.pub \
		--service-account-signing-key-file $pki/sa.key --service-cluster-ip-range "$SERVICES" \
		--authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction
	serve kube-controller-manager kube-controller-manager --kubeconfig $pki/controller-manager.kubeconfig \
		--bind-address 127.0.0.1 --leader-elect=false --use-service-account-credentials \
		--service-account-private-key-file $pki/sa.key --root-ca-file $pki/ca.crt
	serve kube-scheduler kube-scheduler --kubeconfig $pki/scheduler.kubeconfig \
		--bind-address 127.0.0.1 --leader-elect=false
}

serve_pods() {
	serve containerd containerd --config /run/node/containerd.toml
	serve kubelet kubelet --config /run/node/kubelet.yaml --kubeconfig "/run/devcluster/pki/$NODE.kubeconfig" \
		--hostname-override "$NODE" --node-ip "$ADDRESS"
	serve kube-proxy kube-proxy --config /run/node/kube-proxy.yaml --hostname-override "$NODE"
	serve netpol netpol --kubeconfig /run/devcluster/pki/netpol.kubeconfig --node "$NODE"
}

mount_files
mount_system
pretend_sysctls
mount --make-rshared /
hostname "$NODE"
export PATH=/run/devcluster/bin:$PATH
cd /run/node

# Kubelets and container runtimes hold many files open.
ulimit -n "$(ulimit -Hn)"

[[ $CONTROL_PLANE != yes ]] || serve_control_plane
serve_pods
wait
