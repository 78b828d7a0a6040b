#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Removes the development cluster and everything in it, also one whose start was interrupted.
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck source=hack/devcluster/bbr.sh
source "$devcluster/bbr.sh"
# shellcheck source=hack/devcluster/provider.sh
source "$devcluster/provider.sh"

if [[ ! -d $state ]] && ! exists; then
	echo "devcluster: not up"
	exit
fi
down
bbr_restore
rm -rf --one-file-system "$state"
echo "devcluster: removed"
