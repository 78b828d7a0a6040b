# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The control groups of the nodes. Each node has a group of its own, named CLUSTER/NODE, in every hierarchy: its
# kubelet takes that group for the root of the tree, and whoever is in it is part of the node, whichever process
# started it and however that ended.

cgroup_parent=$cluster_name

# cgroup_version tells v1 (also where v2 is mounted beside it, without the controllers that kubelet needs) from v2.
cgroup_version() {
	if [[ $(stat -fc %T /sys/fs/cgroup) == cgroup2fs ]]; then echo 2; else echo 1; fi
}

# cgroup_hierarchies prints the mount points of the hierarchies that hold nodes.
cgroup_hierarchies() {
	if [[ $(cgroup_version) == 2 ]]; then
		echo /sys/fs/cgroup
	else
		findmnt --raw --noheadings --types cgroup --output TARGET
	fi
}

# cgroup_missing prints the controllers that kubelet needs and are not there, and the hierarchies in which no group can be
# made.
cgroup_missing() {
	local controller have hierarchy
	if [[ $(cgroup_version) == 2 ]]; then
		have=$(</sys/fs/cgroup/cgroup.controllers)
	else
		have=$(awk -F: '$2 != "" { gsub(",", " ", $2); printf "%s ", $2 }' /proc/self/cgroup)
	fi
	for controller in cpu cpuset memory pids; do
		[[ " $have " == *" $controller "* ]] ||
			echo "control groups of the kernel: no controller $controller (there are: $have)"
	done
	while read -r hierarchy; do
		[[ -w $hierarchy ]] || echo "control groups of the kernel: $hierarchy cannot be written to"
	done < <(cgroup_hierarchies)
}

# cgroup_enter NODE moves this process into the node's group.
cgroup_enter() {
	local hierarchy group file
	while read -r hierarchy; do
		for group in "$hierarchy/$cgroup_parent" "$hierarchy/$cgroup_parent/$1"; do
			mkdir -p "$group"
			if [[ $(cgroup_version) == 2 ]]; then
				cgroup_delegate "$(dirname "$group")"
			elif [[ -f $group/cpuset.cpus ]]; then
				# A v1 cpuset starts empty and takes no process before it has processors and memory.
				for file in cpuset.cpus cpuset.mems; do
					cat "$group/../$file" >"$group/$file"
				done
			fi
		done
		echo "$BASHPID" >"$group/cgroup.procs"
	done < <(cgroup_hierarchies)
}

# cgroup_init NODE prints the group for a node's own processes, where they need one apart from the node's.
cgroup_init() {
	[[ $(cgroup_version) == 1 ]] || echo "/sys/fs/cgroup/$cgroup_parent/$1/init"
}

# cgroup_delegate GROUP lets the children of a v2 group use the controllers that it has.
cgroup_delegate() {
	local controller
	for controller in $(<"$1/cgroup.controllers"); do
		case $controller in
		cpu | cpuset | hugetlb | io | memory | pids) echo "+$controller" >"$1/cgroup.subtree_control" ;;
		esac
	done
}

# cgroup_processes NODE prints the ids of all processes of a node.
cgroup_processes() {
	local hierarchy
	hierarchy=$(cgroup_hierarchies | grep -m 1 -e /pids -e '^/sys/fs/cgroup$')
	find "$hierarchy/$cgroup_parent/$1" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u
}

# cgroup_nodes prints the nodes that have a group.
cgroup_nodes() {
	local hierarchy
	while read -r hierarchy; do
		find "$hierarchy/$cgroup_parent" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null || true
	done < <(cgroup_hierarchies) | sort -u
}

# cgroup_remove removes the groups of all nodes, and tells whether that was possible.
cgroup_remove() {
	local hierarchy busy=0
	while read -r hierarchy; do
		if [[ -d $hierarchy/$cgroup_parent ]]; then
			find "$hierarchy/$cgroup_parent" -depth -type d -exec rmdir {} + || busy=1
		fi
	done < <(cgroup_hierarchies)
	return "$busy"
}
