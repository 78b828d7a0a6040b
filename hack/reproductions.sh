#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the benchmarks of config/samples whose names end with -local, or those of them that ONLY names, one after the other.
# The report of each is opened in a headless Chromium, where every chart has to show something, and a picture of it is kept
# with the result. At the end there is a line for each variant that was measured. The exit code is 1 if one of them could
# not be run, did not succeed or has a report that does not open; the others are run all the same.
#
# usage: [ONLY="NAME..."] hack/reproductions.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

samples=config/samples/benchmark
read -r -a names <<<"${ONLY:-}"
if [[ ${#names[@]} -eq 0 ]]; then
	for file in "$samples"/*-local.yaml; do
		name=${file##*/}
		names+=("${name%.yaml}")
	done
fi
for name in "${names[@]}"; do
	if [[ $name != *-local || ! -f $samples/$name.yaml ]]; then
		echo "there is no $samples/$name.yaml that this machine can run: ONLY names files that end with -local" >&2
		exit 1
	fi
done

folder=results/reproductions/$(date -u +%Y%m%dT%H%M%SZ)
mkdir -p "$folder"
failed=()

# run NAME runs one benchmark and looks at its report.
run() {
	local name=$1 artifact=$folder/$1 code=0
	printf '\n%s\n' "$name"
	bin/shardyard bench run -f "$samples/$name.yaml" --artifact "$artifact" --shardnode bin/shardnode || code=$?
	if [[ -f $artifact/report.html ]]; then
		node dashboards/page/picture.mjs "file://$PWD/$artifact/report.html" "$artifact/report.png" || code=1
	fi
	[[ $code -eq 0 ]] || failed+=("$name")
}

# Whoever interrupts one of them wants none of the others.
trap 'exit 130' INT TERM
for name in "${names[@]}"; do
	run "$name"
done

printf '\nresults and pictures are in %s\n\n' "$folder"
bin/shardyard report history "$folder"
if [[ ${#failed[@]} -gt 0 ]]; then
	printf '\nnot as they should be: %s\n' "${failed[*]}" >&2
	exit 1
fi
