#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Stops the control plane of the fake machines and removes everything in it.
set -euo pipefail
# shellcheck source=hack/devcluster/kwok/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ ! -d $state ]]; then
	echo "kwok: not up"
	exit
fi
stop
# By name, because the folder may be one that somebody chose.
rm -rf "${state:?}"/{bin,etcd,kubeconfig,log,pid,pki}
rmdir "$state"
echo "kwok: removed"
