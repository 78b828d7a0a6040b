#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Puts the images of docker-archives onto every node of the development cluster.
#
# usage: hack/devcluster/load.sh ARCHIVE...
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -gt 0 ]] || fail "usage: hack/devcluster/load.sh ARCHIVE..."
[[ -f $state/provider ]] || fail "no cluster is up: make cluster-up"
# shellcheck source=hack/devcluster/provider.sh
source "$devcluster/provider.sh"

load "$@"
