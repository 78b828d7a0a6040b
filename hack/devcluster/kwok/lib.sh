# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts of the cluster of fake machines share, beyond what they share with the development cluster. The
# environment may give KWOK_STATE, KWOK_PORT, the first of three ports, and KWOK_PODS, the range of the pods' addresses, so
# that several run side by side.
# shellcheck disable=SC2034 # not every script uses everything

# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

state=${KWOK_STATE:-$cache/kwok}
kubeconfig=$state/kubeconfig
logs=$state/log

# shellcheck source=hack/devcluster/pki.sh
source "$devcluster/pki.sh"

api_port=${KWOK_PORT:-24443}
api_server=https://127.0.0.1:$api_port

pods=${KWOK_PODS:-127.64.0.0/10}

# stopped tells whether no servers run; stop ends them and leaves their data.
stopped() { [[ -z $(supervisor) ]]; }
stop() {
	local process
	process=$(supervisor)
	[[ -n $process ]] || return 0
	kill -TERM "$process"
	wait_for 60 "the end of the servers" stopped
}

# supervisor prints the id of the process that runs the servers, if there is one.
supervisor() {
	local process
	process=$(cat "$state/pid" 2>/dev/null) || return 0
	# The number of a process that ended may since be another's.
	if grep -qaF "$devcluster/kwok/serve.sh" "/proc/$process/cmdline" 2>/dev/null; then
		echo "$process"
	fi
}
