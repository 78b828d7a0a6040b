#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that this machine has what the development cluster needs, of whichever kind it is here, and what further purposes
# do: see hack/setup.sh.
#
# usage: hack/devcluster/setup.sh [PURPOSE...]
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=hack/devcluster/provider.sh
source "$devcluster/provider.sh"

exec "$root/hack/setup.sh" "cluster-$provider" "$@"
