# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the nodes of the cluster are made of: kind's containers where a Docker daemon answers, and else the machine's own
# namespaces, for which one has to be root on Linux. A cluster that exists stays what it is. Whichever it is defines
# the functions exists, prepare, up, down and load.

choose_provider() {
	if [[ -f $state/provider ]]; then
		cat "$state/provider"
	elif docker info >/dev/null 2>&1; then
		echo kind
	elif [[ $(uname -s) == Linux && $EUID -eq 0 ]]; then
		echo namespaces
	else
		fail "this needs a running Docker, or Linux and root"
	fi
}

provider=$(choose_provider)
case $provider in
kind)
	# shellcheck source=hack/devcluster/kind.sh
	source "$devcluster/kind.sh"
	;;
namespaces)
	# shellcheck source=hack/devcluster/namespaces.sh
	source "$devcluster/namespaces.sh"
	;;
*) fail "$state/provider names no provider: $provider" ;;
esac
