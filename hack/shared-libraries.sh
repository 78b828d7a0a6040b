#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that every module here requires the libraries that nearly all are built on at the version that this repository's
# own module does. The build cache keeps a package by its version and by those of all that it imports, so one tool with
# another golang.org/x/sys has all of client-go compiled for itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t modules < <(find dashboards hack test -name go.mod -not -path '*/node_modules/*' | LC_ALL=C sort)
awk '
	/^[a-z]/ { block = $1 == "require" && $2 == "(" ? "require" : "" }
	block != "require" && !sub(/^require /, "") { next }
	$1 !~ /^(golang\.org\/x\/(net|sys|term|text)|google\.golang\.org\/protobuf|k8s\.io\/[a-z-]+)$/ { next }
	FILENAME == ARGV[1] { own[$1] = $2; next }
	$1 in own && own[$1] != $2 {
		printf "%s requires %s %s, and go.mod %s: raise it, or exclude what is newer\n", FILENAME, $1, $2, own[$1]
		different = 1
	}
	END { exit different }
' go.mod "${modules[@]}" >&2
