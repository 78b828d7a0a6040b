#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Removes the development cluster and everything in it, also one whose start was interrupted.
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ ! -d $state ]]; then
	echo "devcluster: not up"
	exit
fi
# shellcheck source=hack/devcluster/provider.sh
source "$devcluster/provider.sh"

down
rm -rf --one-file-system "$state"
echo "devcluster: removed"
