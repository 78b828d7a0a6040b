#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that this machine has what one purpose or several need, before anything is built for them. Missing Debian packages
# are installed through apt when this runs as root. What is still missing is listed together with the way to get it, and
# the exit code is 1.
#
# usage: hack/setup.sh (tools | build | release | test | cluster-kind | cluster-kwok | cluster-namespaces | setup-check)...
set -euo pipefail

# What each purpose needs beyond the toolchains, which are checked below, and beyond what every Debian has: a command, a
# header of the C compiler, a library that pkg-config knows, or certificates; and the Debian package that has it. All of
# build's is test's as well. make setup-check finds what is missing here.
needs() {
	cat <<-TABLE
		every               certificates        ca-certificates
		every               make                make
		build               cc                  gcc
		build               header:stdlib.h     libc6-dev
		release             git                 git
		test                c++                 g++
		test                chromium            chromium
		test                git                 git
		test                prometheus          prometheus
		test                promtool            prometheus
		test                shellcheck          shellcheck
		cluster-kwok        openssl             openssl
		cluster-namespaces  cc                  gcc
		cluster-namespaces  header:stdlib.h     libc6-dev
		cluster-namespaces  ip                  iproute2
		cluster-namespaces  library:libseccomp  libseccomp-dev
		cluster-namespaces  modprobe            kmod
		cluster-namespaces  nft                 nftables
		cluster-namespaces  openssl             openssl
		cluster-namespaces  pkg-config          pkg-config
		cluster-namespaces  sysctl              procps
		cluster-namespaces  tc                  iproute2
		setup-check         mmdebstrap          mmdebstrap
	TABLE
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
purposes=" every "
missing=()

# asked PURPOSE tells whether this is about a purpose.
asked() { [[ $purposes == *" $1 "* ]]; }

read_purposes() {
	local purpose
	for purpose in "$@"; do
		case $purpose in
		tools | build | cluster-kind | cluster-kwok | cluster-namespaces | setup-check) purposes+="$purpose " ;;
		release) purposes+="release build " ;;
		test) purposes+="test build " ;;
		*) return 1 ;;
		esac
	done
	[[ $# -gt 0 ]]
}

# at_least HAVE WANT tells whether the version HAVE is WANT or later.
at_least() {
	[[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

# has NEED tells whether something of the table is there.
has() {
	case $1 in
	certificates) has_certificates ;;
	header:*) cc -E -x c -include "${1#header:}" /dev/null >/dev/null 2>&1 ;;
	library:*) pkg-config --exists "${1#library:}" 2>/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# has_certificates tells whether downloads can tell whom they come from: the files are those that Go looks for.
has_certificates() {
	local file
	for file in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
		/etc/ssl/ca-bundle.pem /etc/pki/tls/cacert.pem /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem \
		/etc/ssl/cert.pem; do
		[[ ! -s $file ]] || return 0
	done
	return 1
}

# absent COLUMN prints what is needed and not there: the need, or its package.
absent() {
	local purpose need package
	while read -r purpose need package; do
		if asked "$purpose" && ! has "$need"; then
			if [[ $1 == need ]]; then echo "$need"; else echo "$package"; fi
		fi
	done < <(needs) | sort -u
}

check_packages() {
	local packages lacking
	mapfile -t packages < <(absent package)
	[[ ${#packages[@]} -gt 0 ]] || return 0

	if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
		echo "installing ${packages[*]}" >&2
		# A machine that has just been started may be installing something itself. What fails is missing below.
		apt-get update -qq >&2 || true
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 \
			"${packages[@]}" >&2 || true
		mapfile -t packages < <(absent package)
	fi
	if [[ ${#packages[@]} -gt 0 ]]; then
		mapfile -t lacking < <(absent need)
		missing+=("${lacking[*]}: on Debian, as root, apt-get install ${packages[*]}")
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

	asked test || return 0
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

# check_kernel looks at what no package can give. It takes the commands of the table.
check_kernel() {
	local lacking
	mapfile -t lacking < <("$root/hack/devcluster/namespaces/kernel.sh")
	[[ ${#lacking[@]} -eq 0 ]] || missing+=("${lacking[@]}")
}

if ! read_purposes "$@"; then
	sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2
	exit 2
fi
check_packages
check_go
if asked build; then check_rust; fi
if asked test; then check_node; fi
if asked cluster-namespaces && [[ ${#missing[@]} -eq 0 ]]; then check_kernel; fi

if [[ ${#missing[@]} -gt 0 ]]; then
	echo "this machine lacks:" >&2
	printf '  %s\n' "${missing[@]}" >&2
	exit 1
fi
