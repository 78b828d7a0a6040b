#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command, as root, as on another machine: the one whose files are in a folder. It has this machine's kernel,
# network and devices, and what it is lent of its files: to read, or to write as well, at the same path or at another.
# Nothing that it starts outlives it.
#
# usage: test/setup/enter.sh FOLDER [(--read | --write) PATH[:PATH THERE]]... -- COMMAND...
set -euo pipefail

if [[ ${1:-} != --inside ]]; then
	exec unshare --mount --pid --fork --kill-child "${BASH_SOURCE[0]}" --inside "$@"
fi
folder=$2
shift 2

# Only what is mounted can become the root.
mount --bind "$folder" "$folder"
cd "$folder"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
for file in hosts resolv.conf; do
	[[ ! -e /etc/$file ]] || cat "/etc/$file" >"etc/$file"
done
while [[ $1 != -- ]]; do
	path=${2%%:*} there=.${2#*:}
	if [[ -d $path ]]; then
		mkdir -p "$there"
	else
		mkdir -p "${there%/*}"
		touch "$there"
	fi
	mount --bind "$path" "$there"
	[[ $1 == --write ]] || mount -o remount,bind,ro "$there"
	shift 2
done
shift

lent=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
	[[ -z ${!name:-} ]] || lent+=("$name=${!name}")
done
pivot_root . .
umount --lazy .
cd /
exec env -i "${lent[@]}" HOME=/root LANG=C.UTF-8 \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
