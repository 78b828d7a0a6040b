#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Starts the development cluster, or the nodes that it lacks, and returns when pods can run on all of them.
#
# usage: NODES=3 REGIONS=a,b,c hack/devcluster/up.sh
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ $nodes =~ ^[1-9][0-9]?$ && $nodes -le $max_nodes ]] || fail "NODES is $nodes, not a number from 1 to $max_nodes"
[[ ${#regions[@]} -gt 0 ]] || fail "REGIONS names no region"

# shellcheck source=hack/devcluster/bbr.sh
source "$devcluster/bbr.sh"
# shellcheck source=hack/devcluster/provider.sh
source "$devcluster/provider.sh"
echo "devcluster: $nodes node(s) by way of $provider"
"$devcluster/setup.sh"
up
bbr_allow
echo "export KUBECONFIG=$kubeconfig"
