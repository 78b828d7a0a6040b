#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints what the image of a program holds, one SOURCE:TARGET a line: the program, and exactly the shared libraries that it
# needs.
#
# usage: hack/image-files.sh BINARY
set -euo pipefail

binary=${1:?usage: hack/image-files.sh BINARY}
echo "$binary:/usr/local/bin/${binary##*/}"
# ldd prints "NAME => PATH (ADDRESS)" for a library and "PATH (ADDRESS)" for the loader, and fails for a static program.
if libraries=$(ldd "$binary" 2>/dev/null); then
	if grep -F "not found" <<<"$libraries" >&2; then
		exit 1
	fi
	awk '$2 == "=>" { print $3 ":" $3 } $1 ~ /^\// { print $1 ":" $1 }' <<<"$libraries"
fi
