#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes targets one after the other until one fails, and prints at the end how long each took, in minutes and seconds. A
# target that is itself made of parts has them in the same table, above itself. Targets that are joined by + are made side
# by side, and those of them that are joined by a comma one after the other.
#
# usage: hack/parts.sh TARGET[+TARGET[,TARGET]...]...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# end of the outermost run, however it comes about.
end() {
	printf '\n%8s  %s\n' time part
	cat "$PARTS_TABLE"
	printf '%8s  %s\n' "$(minutes "$SECONDS")" "in all"
	rm -f "$PARTS_TABLE"
}

depth=${PARTS_DEPTH:-0}
export PARTS_DEPTH=$((depth + 1))
if [[ $depth -eq 0 ]]; then
	PARTS_TABLE=$(mktemp)
	export PARTS_TABLE
	trap end EXIT
fi

for part in "$@"; do
	start=$SECONDS outcome=""
	targets=("$part")
	if [[ $part == *+* ]]; then
		IFS=+ read -r -a targets <<<"$part"
		targets=("-j${#targets[@]}" --output-sync=line "${targets[@]/#/part-}")
	fi
	# Without the flags of the make that may run this, which are about its own jobs.
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory "${targets[@]}" || outcome=" failed"
	printf '%8s  %*s%s%s\n' "$(minutes $((SECONDS - start)))" $((2 * depth)) "" "$part" "$outcome" >>"$PARTS_TABLE"
	[[ -z $outcome ]] || exit 1
done
