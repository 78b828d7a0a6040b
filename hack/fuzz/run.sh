#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Gives every decoder of the node hostile bytes: each target of node/fuzz runs for FUZZ_SECONDS under libFuzzer, from its
# saved corpus and from what earlier runs found. FUZZ_TARGET runs only that one, and FUZZ_INPUT only that file. What fails
# is kept and printed with the command that runs it again, and the exit code is 1.
#
# usage: hack/fuzz/run.sh [search | minimise]
#
# With minimise nothing is looked for: the saved corpora become the fewest inputs that reach what theirs and the found
# ones together reach. Golden vectors and inputs that once failed stay.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/shardyard
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$cache/node-target}

# The features are those of the whole workspace, so that the crates of others are the ones that every build has.
(cd "$root/node" && RUSTC_WORKSPACE_WRAPPER=$root/hack/fuzz/rustc.sh env -u MAKEFLAGS -u MFLAGS \
	cargo build --release --locked --workspace --bin shardnode-fuzz --features shardnode-fuzz/libfuzzer)

export FUZZER=$CARGO_TARGET_DIR/release/shardnode-fuzz FUZZ_CACHE=$cache/fuzz
if [[ -n ${FUZZ_INPUT:-} ]]; then
	exec "$root/hack/fuzz/target.sh" again "${FUZZ_TARGET:?names the target of the input}" "$FUZZ_INPUT"
fi

targets=$(find "$root/node/fuzz/corpus" -mindepth 1 -maxdepth 1 -name "${FUZZ_TARGET:-*}" -printf '%f\n' | sort)
if [[ -z $targets ]]; then
	echo "there is no target $FUZZ_TARGET" >&2
	exit 2
fi
xargs -P 2 -I TARGET "$root/hack/fuzz/target.sh" "${1:-search}" TARGET <<<"$targets" || exit 1
