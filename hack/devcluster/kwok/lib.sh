# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts of the cluster of fake machines share, beyond what they share with the development cluster. The
# environment may give KWOK_STATE and KWOK_PORT, the first of three ports, so that several run side by side.

# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

state=${KWOK_STATE:-$cache/kwok}
kubeconfig=$state/kubeconfig
logs=$state/log

# shellcheck source=hack/devcluster/pki.sh
source "$devcluster/pki.sh"

api_port=${KWOK_PORT:-24443}
api_server=https://127.0.0.1:$api_port

# supervisor prints the id of the process that runs the servers, if there is one.
supervisor() {
	local process
	process=$(cat "$state/pid" 2>/dev/null) || return 0
	# The number of a process that ended may since be another's.
	if grep -qaF "$devcluster/kwok/serve.sh" "/proc/$process/cmdline" 2>/dev/null; then
		echo "$process"
	fi
}
