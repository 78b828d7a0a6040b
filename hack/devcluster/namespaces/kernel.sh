#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints what nodes in the machine's own namespaces are made of and this machine's kernel lacks, or withholds from this
# process, one thing a line. All of it is tried out, in namespaces that end with the trial.
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=hack/devcluster/namespaces/cgroup.sh
source "$devcluster/namespaces/cgroup.sh"

# try WHAT COMMAND... names what a command that fails could not do, with the last thing that it said.
try() {
	local what=$1 said
	shift
	said=$("$@" 2>&1 >/dev/null) || echo "$what: $(tail -n 1 <<<"$said")"
}

namespaces() { unshare --mount --uts --ipc --pid --net --cgroup --fork --kill-child --mount-proc true; }

cables() {
	unshare --net sh -euc 'ip link add bridge type bridge
		ip link add here type veth peer name there
		ip link set here master bridge up'
}

# What kube-proxy and the network policies ask for.
packet_filter() {
	unshare --net nft --file - <<-RULES
		table ip trial {
			map services { type ipv4_addr . inet_proto . inet_service : verdict; }
			chain prerouting {
				type nat hook prerouting priority dstnat
				fib daddr type local ip daddr . meta l4proto . th dport vmap @services
			}
			chain postrouting {
				type nat hook postrouting priority srcnat
				meta mark & 0x4000 == 0x4000 masquerade fully-random
			}
			chain forward {
				type filter hook forward priority filter
				ct state established,related accept
				numgen random mod 2 vmap { 0 : drop, 1 : accept }
				reject
			}
		}
	RULES
}

overlays() {
	unshare --mount sh -euc 'mount -t tmpfs trial /mnt
		cd /mnt
		mkdir lower upper work merged
		mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work trial merged'
}

cgroup_missing
try "namespaces of the kernel" namespaces
try "virtual network devices of the kernel" cables
try "nftables of the kernel" packet_filter
try "overlay file systems of the kernel" overlays
