#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Goes from a node's control group and network namespace into the rest of its namespaces, and starts its first process.
# The environment gives what init.sh asks for and, where control groups are of version 2, INIT_GROUP.
set -euo pipefail

# Only a group without processes of its own can share its controllers out to pods, so the node's own processes, and this
# one outside of it, have a group below the node's.
if [[ -n ${INIT_GROUP:-} ]]; then
	mkdir -p "$INIT_GROUP"
	echo $$ >"$INIT_GROUP/cgroup.procs"
fi
exec unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc "$(dirname "${BASH_SOURCE[0]}")/init.sh"
