#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints for each crate of the node how long it takes from a changed line in it until a network of the development build
# runs under its load, in seconds: until the node is built, and until the network has finalised blocks for 3 s. It
# changes a copy of the node, each crate once. What is built after it begins anew: cargo takes both for one.
#
# usage: hack/rebuild-times.sh SHARDYARD MANIFEST [CRATE…]
set -euo pipefail

shardyard=$(realpath "$1") manifest=$(realpath "$2")
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/shardyard/node-target}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# With new times, so that all of it is compiled where it is before the first change.
cp -r node "$copy"
cd "$copy/node"

build() {
	cargo build --quiet --locked --bin shardnode --no-default-features
}

# run starts a network anew, and ends it again.
run() {
	"$shardyard" up -f "$manifest" --state-dir "$copy/state" --fresh --for 3s -o json --page off \
		--shardnode "$CARGO_TARGET_DIR/debug/shardnode" >"$copy/summary.json" 2>"$copy/log" || {
		cat "$copy/log" >&2
		return 1
	}
}

# change adds a function before the first item of a crate: what follows is at another line than before.
change() {
	local source=$1/src/lib.rs
	[[ -e $source ]] || source=$1/src/main.rs
	awk -v n="$2" '
		!done && !/^(\/\/|#!\[|$)/ {
			print "/// Is new.\n#[must_use]\npub fn changed(by: u64) -> u64 {\n    by.rotate_left(" n ")\n}\n"
			done = 1
		}
		{ print }' "$source" >"$copy/changed.rs"
	mv "$copy/changed.rs" "$source"
}

seconds() {
	printf '%d.%d' $((($2 - $1) / 1000)) $((($2 - $1) % 1000 / 100))
}

build
run
if [[ $# -eq 0 ]]; then
	mapfile -t crates < <(cargo tree --locked --package shardnode --no-default-features --edges normal --prefix none |
		grep -o '^shardnode[a-z-]*' | sort -u)
	set -- "${crates[@]}"
fi
printf '%-28s %8s %8s\n' crate built runs
for crate in "$@"; do
	folder=crates/${crate#shardnode-}
	[[ -d $folder ]] || folder=bin/$crate
	change "$folder" "$(($(date +%s) % 63 + 1))"
	begin=$(date +%s%3N)
	build
	built=$(date +%s%3N)
	run
	printf '%-28s %8s %8s\n' "$crate" "$(seconds "$begin" "$built")" "$(seconds "$begin" "$(date +%s%3N)")"
done
