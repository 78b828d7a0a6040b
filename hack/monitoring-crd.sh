#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of the CRD of a kind of the Prometheus operator at the pinned version, from its module: tests apply
# PodMonitors and PrometheusRules to API servers that have the kind. Nothing of the module is built, so no go.mod names
# it, and the content is compared here.
#
# usage: hack/monitoring-crd.sh (podmonitors | prometheusrules)
set -euo pipefail

module=github.com/prometheus-operator/prometheus-operator@v0.93.1
sum=h1:4Juk8v93RdG1DSGD/mGp+SeQKPmnlLIj2iq3blLZgFY=

downloaded=$(go mod download -json "$module")
field() { sed -n "s/^\t\"$1\": \"\(.*\)\",\{0,1\}$/\1/p" <<<"$downloaded"; }
if [[ $(field Sum) != "$sum" ]]; then
	echo "$module has the sum $(field Sum), want $sum" >&2
	exit 1
fi
echo "$(field Dir)/example/prometheus-operator-crd/monitoring.coreos.com_$1.yaml"
