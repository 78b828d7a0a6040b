#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of the Terraform that the tests run: the one that TERRAFORM names; else terraform or tofu of this
# machine, from 1.9 on; else OpenTofu, built at the version that hack/tools pins.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
least=1.9

# recent PROGRAM tells whether a program is a Terraform of the least version or later, which it prints on its first line.
recent() {
	local version
	version=$("$1" version 2>/dev/null | sed -n 's/^\(Terraform\|OpenTofu\) v//p' | head -n 1)
	[[ -n $version && $(printf '%s\n%s\n' "$least" "$version" | sort -V | head -n 1) == "$least" ]]
}

if [[ -n ${TERRAFORM:-} ]]; then
	if ! recent "$TERRAFORM"; then
		echo "TERRAFORM is $TERRAFORM, which is no Terraform or OpenTofu from $least on" >&2
		exit 1
	fi
	command -v "$TERRAFORM"
	exit
fi
for program in terraform tofu; do
	if command -v "$program" >/dev/null && recent "$program"; then
		command -v "$program"
		exit
	fi
done
if ! "$root/hack/tool.sh" tofu; then
	echo "this machine has no terraform or tofu from $least on, and OpenTofu could not be built" >&2
	exit 1
fi
