#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Stops the control plane of the fake machines as an outage does. up.sh starts it again with all that was in it.
set -euo pipefail
# shellcheck source=hack/devcluster/kwok/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

stop
echo "kwok: stopped"
