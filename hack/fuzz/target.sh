#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# One target of hack/fuzz/run.sh, which sets FUZZER, the program, and FUZZ_CACHE, the folder of what is found.
#
# usage: hack/fuzz/target.sh (search TARGET | minimise TARGET | again TARGET FILE)
set -euo pipefail

target=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
saved=$root/node/fuzz/corpus/$target
found=$FUZZ_CACHE/found/$target
failed=$FUZZ_CACHE/failed
log=$FUZZ_CACHE/logs/$target
mkdir -p "$found" "$failed" "${log%/*}"

# fuzz ARGUMENT… runs libFuzzer. Longer inputs reach nothing that shorter ones do not; one may take ten seconds and a
# gigabyte.
fuzz() {
	FUZZ_TARGET=$target "$FUZZER" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -artifact_prefix="$failed/$target-" "$@"
}

# search looks for new inputs, and for one that fails.
search() {
	local file cpu TIMEFORMAT='%U+%S'
	if cpu=$({ time fuzz -max_total_time="${FUZZ_SECONDS:-60}" -print_final_stats=1 "$found" "$saved" >"$log" 2>&1; } 2>&1); then
		echo "$target: $(summary), $(awk "BEGIN { printf \"%.0f\", $cpu }") s of CPU time"
		return
	fi
	tail -n 40 "$log"
	file=$(sed -n 's/.*Test unit written to //p' "$log")
	echo "$target: failed${file:+; again: make fuzz FUZZ_TARGET=$target FUZZ_INPUT=$file}"
	return 1
}

# summary says how much a run did, of what libFuzzer wrote.
summary() {
	awk '/ cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") coverage = $(i + 1) }
	/INITED/ { first = coverage }
	/^stat::number_of_executed_units:/ { runs = $2 }
	/^stat::new_units_added:/ { added = $2 }
	END { printf "%d runs, coverage %d at first and %d at the end, %d new inputs", runs, first, coverage, added }' "$log"
}

# minimise rewrites the saved corpus: what is reached counts, not how often.
minimise() {
	local fewest known file
	fewest=$(mktemp -d)
	if ! fuzz -merge=1 -set_cover_merge=1 -use_counters=0 "$fewest" "$saved" "$found" >"$log" 2>&1; then
		tail -n 40 "$log"
		return 1
	fi
	# libFuzzer names inputs by their hash. What has a name of its own is not needed twice.
	find "$saved" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
	known=$(find "$saved" -type f -exec sha1sum {} +)
	find "$fewest" -type f | while read -r file; do
		[[ $known == *${file##*/}* ]] || cp "$file" "$saved/"
	done
	rm -rf "$fewest"
	echo "$target: $(find "$saved" -type f | wc -l) inputs, $(du -bs "$saved" | cut -f 1) bytes"
}

case $1 in
search | minimise) "$1" ;;
again) fuzz "$3" ;;
*)
	echo "usage: hack/fuzz/target.sh (search TARGET | minimise TARGET | again TARGET FILE)" >&2
	exit 2
	;;
esac
