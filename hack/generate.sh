#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Generates the deepcopy code and the CRDs of api/, the role of the controllers, the dashboards, the rules and the
# pages of all metrics and of the API, what the operator's chart holds copies of, and the names that Terraform shares with
# the operator into the tree, and the tables of the charts' READMEs. With --check it generates them into a temporary folder instead and fails, with the
# difference, when the tree holds anything else.
#
# usage: hack/generate.sh [--check]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
controller_gen=$("$root/hack/tool.sh" controller-gen)
cd "$root"

# generate ROOT
generate() {
	local crds=$1/config/crd/bases dashboards=$1/dashboards files=$1/charts/shardyard/files
	local chart readme
	"$controller_gen" object:headerFile=hack/boilerplate.go.txt paths=./api/v1alpha1 \
		output:object:dir="$1/api/v1alpha1"
	"$controller_gen" crd paths=./api/v1alpha1 output:crd:dir="$crds"
	"$controller_gen" rbac:roleName=shardyard-operator paths=./controllers/... output:rbac:dir="$1/config/rbac"
	mkdir -p "$dashboards"
	mkdir -p "$1/docs"
	go -C dashboards/generator run . "$root" "$(realpath "$dashboards")" "$(realpath "$1/docs")/metrics.md"
	go run ./hack/reference "$crds" >"$1/docs/api.md"
	mkdir -p "$1/terraform/modules"
	go run ./hack/names >"$1/terraform/modules/names.json"

	# The templates of a chart read nothing outside it.
	rm -rf "$files/crds" "$files/dashboards"
	mkdir -p "$files/crds" "$files/dashboards"
	cp "$crds"/*.yaml "$files/crds"
	cp "$dashboards"/*.json "$files/dashboards"
	cp "$dashboards/rules.yaml" "$files/rules.yaml"
	cp "$1/config/rbac/role.yaml" "$files/role.yaml"
	mkdir -p "$1/charts/monitoring/files"
	for chart in shardyard monitoring; do
		cp dashboards/kube-state-metrics/config.yaml "$1/charts/$chart/files/kube-state-metrics.yaml"
	done
	for chart in shardyard testnet; do
		readme=$(go run ./hack/charts "charts/$chart" && echo .)
		mkdir -p "$1/charts/$chart/files"
		cp "charts/$chart/values.yaml" "$1/charts/$chart/files/values.yaml"
		printf '%s' "${readme%.}" >"$1/charts/$chart/README.md"
	done
}

if [[ ${1:-} != --check ]]; then
	generate .
	exit
fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
generate "$fresh"

stale=0
diff -u api/v1alpha1/zz_generated.deepcopy.go "$fresh/api/v1alpha1/zz_generated.deepcopy.go" || stale=1
diff -ru config/crd/bases "$fresh/config/crd/bases" || stale=1
for dashboard in "$fresh"/dashboards/*.json; do
	diff -u "dashboards/${dashboard##*/}" "$dashboard" || stale=1
done
diff -u dashboards/rules.yaml "$fresh/dashboards/rules.yaml" || stale=1
diff -u docs/metrics.md "$fresh/docs/metrics.md" || stale=1
diff -u docs/api.md "$fresh/docs/api.md" || stale=1
diff -ru config/rbac "$fresh/config/rbac" || stale=1
diff -u terraform/modules/names.json "$fresh/terraform/modules/names.json" || stale=1
for copies in crds dashboards kube-state-metrics.yaml role.yaml rules.yaml; do
	diff -ru "charts/shardyard/files/$copies" "$fresh/charts/shardyard/files/$copies" || stale=1
done
diff -u charts/monitoring/files/kube-state-metrics.yaml "$fresh/charts/monitoring/files/kube-state-metrics.yaml" || stale=1
for chart in shardyard testnet; do
	diff -u "charts/$chart/README.md" "$fresh/charts/$chart/README.md" || stale=1
	diff -u "charts/$chart/files/values.yaml" "$fresh/charts/$chart/files/values.yaml" || stale=1
done
if [[ $stale -ne 0 ]]; then
	echo "generated files are out of date: run make generate and commit the result" >&2
	exit 1
fi
