#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Generates the deepcopy code and the CRDs of api/, and the dashboards, into the tree. With --check it generates them
# into a temporary folder instead and fails, with the difference, when the tree holds anything else.
#
# usage: hack/generate.sh [--check]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
controller_gen=$("$root/hack/tool.sh" controller-gen)
cd "$root"

# generate API_DIR CRD_DIR DASHBOARD_DIR
generate() {
	"$controller_gen" object:headerFile=hack/boilerplate.go.txt paths=./api/v1alpha1 output:object:dir="$1"
	"$controller_gen" crd paths=./api/v1alpha1 output:crd:dir="$2"
	go -C dashboards/generator run . "$(realpath "$3")"
}

if [[ ${1:-} != --check ]]; then
	generate api/v1alpha1 config/crd/bases dashboards
	exit
fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
mkdir "$fresh/dashboards"
generate "$fresh/api" "$fresh/crd" "$fresh/dashboards"

stale=0
diff -u api/v1alpha1/zz_generated.deepcopy.go "$fresh/api/zz_generated.deepcopy.go" || stale=1
diff -ru config/crd/bases "$fresh/crd" || stale=1
for dashboard in "$fresh"/dashboards/*.json; do
	diff -u "dashboards/${dashboard##*/}" "$dashboard" || stale=1
done
if [[ $stale -ne 0 ]]; then
	echo "generated files are out of date: run make generate and commit the result" >&2
	exit 1
fi
