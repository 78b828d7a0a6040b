#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Changes a crate of the node in every way that cargo-mutants knows, in one place at a time, and has the crate's own tests
# run on each of these mutants. It prints those that the tests missed, and how many they caught; the exit code is 1 if that
# is less than 95 % of those that compile. node/.cargo/mutants.toml says what is left out.
#
# It changes a copy, which is built for development and apart from everything else. What became of each mutant stays in
# ~/.cache/shardyard/mutants/CRATE/mutants.out.
#
# With a slice K/N, 0/8 to 7/8, it does so in every N-th place alone, from the K-th on: that takes an N-th of the time.
#
# usage: hack/mutants.sh CRATE [SLICE]
set -euo pipefail

# cargo would take the flags of the make that runs this for a job server that it cannot reach.
unset MAKEFLAGS MFLAGS

version=27.1.0
least=95

crate=${1:?usage: hack/mutants.sh CRATE [SLICE]}
slice=${2:-0/1}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/shardyard
if [[ ! -d $root/node/crates/$crate ]]; then
	echo "node/crates has no $crate" >&2
	exit 2
fi

program=$cache/tools/cargo-mutants-$version/bin/cargo-mutants
if [[ ! -x $program ]]; then
	echo "building cargo-mutants $version" >&2
	env -u CARGO_TARGET_DIR cargo install --quiet --locked --root "${program%/bin/*}" "cargo-mutants@$version" >&2
fi

# Of the same name each time, so that it is built at the same place; and with new times, so that what a run has left
# there of a mutant is built anew. Tests read documents, and files of the Go side.
results=$cache/mutants/$crate
copy=$results/copy
rm -rf "$copy"
mkdir -p "$copy"
trap 'rm -rf "$copy"' EXIT
cp -r "$root/node" "$root/docs" "$root/internal" "$copy"

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$cache/node-target}/mutants CARGO_INCREMENTAL=1
status=0
"$program" mutants --dir "$copy/node" --in-place --package "shardnode-$crate" --no-shuffle \
	--shard "$slice" --sharding round-robin --timeout 600 --colors never \
	--output "$results" >&2 || status=$?
# 2 and 3 say that mutants were missed, and that tests waited for ever.
case $status in
0 | 2 | 3) ;;
*) exit "$status" ;;
esac

count() { wc -l <"$results/mutants.out/$1.txt"; }
missed=$(count missed)
caught=$(($(count caught) + $(count timeout)))
viable=$((caught + missed))
if [[ $viable -eq 0 ]]; then
	echo "$crate, slice $slice: nothing to change compiles"
	exit 0
fi
sed 's/^/missed: /' "$results/mutants.out/missed.txt"
printf '%s, slice %s: %d of %d mutants caught, %d.%d %%; %d more do not compile\n' "$crate" "$slice" "$caught" "$viable" \
	$((100 * caught / viable)) $((1000 * caught / viable % 10)) "$(count unviable)"
[[ $((100 * caught)) -ge $((least * viable)) ]]
