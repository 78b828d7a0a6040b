#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds what up.sh and kwok/up.sh run, and starts nothing.
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=hack/devcluster/provider.sh
source "$devcluster/provider.sh"

"$devcluster/setup.sh" cluster-kwok
prepare
for tool in "${kwok_tools[@]}"; do
	"$root/hack/tool.sh" "$tool" >/dev/null
done
