#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that this machine has what a build, a full test run, or a development cluster of one kind or another needs.
# Missing Debian packages are installed through apt when this runs as root. What is still missing is listed together
# with the way to get it, and the exit code is 1.
#
# usage: hack/setup.sh (build | test | cluster-namespaces | cluster-kind | cluster-kwok)
set -euo pipefail

purpose=${1:-}
case $purpose in
build | test | cluster-namespaces | cluster-kind | cluster-kwok) ;;
*)
	echo "usage: hack/setup.sh (build | test | cluster-namespaces | cluster-kind | cluster-kwok)" >&2
	exit 2
	;;
esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
missing=()

# at_least HAVE WANT tells whether the version HAVE is WANT or later.
at_least() {
	[[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

# absent_packages prints the Debian packages whose commands are not there.
absent_packages() {
	command -v git >/dev/null || echo git
	command -v make >/dev/null || echo make
	command -v cc >/dev/null || printf '%s\n' gcc libc6-dev
	if [[ $purpose == test ]]; then
		command -v c++ >/dev/null || echo g++
		command -v chromium >/dev/null || echo chromium
		command -v promtool >/dev/null || echo prometheus
		command -v shellcheck >/dev/null || echo shellcheck
	fi
}

check_packages() {
	local packages
	mapfile -t packages < <(absent_packages)
	[[ ${#packages[@]} -gt 0 ]] || return 0

	if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
		echo "installing ${packages[*]}" >&2
		apt-get update -qq >&2
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
		mapfile -t packages < <(absent_packages)
	fi
	if [[ ${#packages[@]} -gt 0 ]]; then
		missing+=("${packages[*]}: apt-get install ${packages[*]} (as root)")
	fi
}

check_go() {
	local want have
	want=$(awk '$1 == "go" { print $2 }' "$root/go.mod")
	if ! command -v go >/dev/null; then
		missing+=("go $want or later: https://go.dev/doc/install")
		return
	fi
	# Asked inside the module, a go command that may fetch toolchains answers with the one it would use here.
	if ! have=$(cd "$root" && go version 2>&1); then
		missing+=("go $want or later: https://go.dev/doc/install ($have)")
		return
	fi
	have=$(awk '{ sub(/^go/, "", $3); print $3 }' <<<"$have")
	at_least "$have" "$want" || missing+=("go $want or later, this is $have: https://go.dev/doc/install")
}

check_rust() {
	local want have component
	want=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$root/node/Cargo.toml")
	if ! command -v cargo >/dev/null; then
		missing+=("cargo $want or later: https://rustup.rs")
		return
	fi
	have=$(cargo --version | awk '{ print $2 }')
	at_least "$have" "$want" || missing+=("cargo $want or later, this is $have: rustup update stable")

	[[ $purpose == test ]] || return 0
	for component in clippy rustfmt; do
		cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 ||
			missing+=("$component: rustup component add $component")
	done
}

check_node() {
	local want=18 have
	if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
		missing+=("node $want or later, with npm: https://nodejs.org/en/download")
		return
	fi
	have=$(node --version)
	at_least "${have#v}" "$want" || missing+=("node $want or later, this is $have: https://nodejs.org/en/download")
}

check_packages
check_go
[[ $purpose != test ]] || check_node
[[ $purpose == cluster-* ]] || check_rust

if [[ ${#missing[@]} -gt 0 ]]; then
	echo "this machine lacks:" >&2
	printf '  %s\n' "${missing[@]}" >&2
	exit 1
fi
