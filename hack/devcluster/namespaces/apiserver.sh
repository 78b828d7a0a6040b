#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Takes the API server of the development cluster away, as when it hangs: connections are taken, and nobody answers. Or
# has it go on.
#
# usage: CLUSTER=2 hack/devcluster/namespaces/apiserver.sh (hang | resume)
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

case ${1:-} in
hang) signal=STOP ;;
resume) signal=CONT ;;
*) fail "usage: hack/devcluster/namespaces/apiserver.sh (hang | resume)" ;;
esac
[[ $(cat "$state/provider" 2>/dev/null) == namespaces ]] || fail "no cluster $cluster is up in the machine's own namespaces"
# shellcheck source=hack/devcluster/namespaces.sh
source "$devcluster/namespaces.sh"

found=no
for process in $(cgroup_processes "$(node_name 1)"); do
	if [[ $(cat "/proc/$process/comm" 2>/dev/null) == kube-apiserver ]]; then
		kill -"$signal" "$process"
		found=yes
	fi
done
[[ $found == yes ]] || fail "cluster $cluster has no API server"
