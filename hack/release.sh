#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Writes the release of the commit that is checked out into dist/VERSION: all of it, or only some of its parts.
#
#   cli      shardyard for every platform, also as a plugin of kubectl, with completions and man pages
#   charts   both charts, as packages of helm
#   install  the operator and its CRDs in one file of YAML
#   node     shardnode, as make build-shardnode built it
#   images   the images of the operator and the node, as archives of OCI image layouts
#   sbom     what each program is made of, as documents of CycloneDX
#   changes  the changes since the release before
#
# What is written follows from the commit and the toolchains alone: no time but the commit's, no name of this machine, no
# order of a folder. So two releases of one commit have equal digests.
#
# usage: [PLATFORMS="OS/ARCHITECTURE..."] hack/release.sh VERSION [PART...]
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
	echo "hack/release.sh: $*" >&2
	exit 1
}

version=${1:-}
parts=("${@:2}")
[[ ${#parts[@]} -gt 0 ]] || parts=(cli charts install node images sbom changes)
read -r -a platforms <<<"${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}"
registry=ghcr.io/shardyard

platform=$(uname -s)/$(uname -m)
[[ $platform == Linux/x86_64 ]] || fail "a release is made on Linux/x86_64, which its node and its images are for, and this is $platform"
tree=$(awk -F '"' '/^version = / { print $2; exit }' node/Cargo.toml)
[[ $version == "$tree" ]] ||
	fail "VERSION is \"$version\", and the tree is of $tree: change node/Cargo.toml, node/Cargo.lock and the Chart.yaml of all three charts, and commit that"
[[ -z $(git status --porcelain) ]] || fail "the tree has changes that are in no commit: a release is of one"
commit=$(git rev-parse HEAD)
seconds=$(git log -1 --format=%ct)

export CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false -tags=disable_grpc_modules" GOWORK=off LC_ALL=C TZ=UTC
# The time that man pages have.
export SOURCE_DATE_EPOCH=$seconds
umask 022

# What is made is there whole or not at all.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
release=$work/release
mkdir "$release" "$work/programs"

# build OS ARCHITECTURE PROGRAM FILE
build() {
	local name=github.com/shardyard/shardyard/internal/version
	GOOS=$1 GOARCH=$2 go build -ldflags "-s -w -X $name.release=$version -X $name.commit=$commit" -o "$4" "./cmd/$3"
}

# program NAME builds a program for this platform, once, and prints where it is.
program() {
	[[ -x $work/programs/$1 ]] || build linux amd64 "$1" "$work/programs/$1"
	echo "$work/programs/$1"
}

# pack ARCHIVE FOLDER packs what is in a folder, by name and without anything of this machine.
pack() {
	(cd "$2" && tar --create --sort=name --format=ustar --mtime="@$seconds" --owner=0 --group=0 --numeric-owner \
		--mode=u+rwX,go+rX,go-w -- *) | gzip --no-name >"$release/$1"
}

part_cli() {
	local shardyard common=$work/cli/common platform folder
	shardyard=$(program shardyard)
	mkdir -p "$common/completions" "$common/man/man1"
	"$shardyard" completion bash >"$common/completions/shardyard.bash"
	"$shardyard" completion fish >"$common/completions/shardyard.fish"
	"$shardyard" completion zsh >"$common/completions/_shardyard"
	"$shardyard" docs man "$common/man/man1"
	# kubectl asks the first for completions of the second, its plugin.
	cat >"$common/kubectl_complete-shardyard" <<-'SH'
		#!/bin/sh
		exec kubectl-shardyard __complete "$@"
	SH
	chmod +x "$common/kubectl_complete-shardyard"
	ln -s shardyard "$common/kubectl-shardyard"
	cp LICENSE "$common"
	for platform in "${platforms[@]}"; do
		folder=$work/cli/${platform/\//_}
		cp -r "$common" "$folder"
		if [[ $platform == linux/amd64 ]]; then
			cp "$shardyard" "$folder/shardyard"
		else
			build "${platform%/*}" "${platform#*/}" shardyard "$folder/shardyard"
		fi
		pack "shardyard_${platform/\//_}.tar.gz" "$folder"
		rm -rf "$folder"
	done
}

part_charts() {
	local helm chart
	helm=$(hack/tool.sh helm)
	for chart in shardyard testnet; do
		mkdir -p "$work/charts"
		cp -r "charts/$chart" "$work/charts"
		find "$work/charts/$chart" -exec touch --no-dereference --date="@$seconds" {} +
		"$helm" package --destination "$release" "$work/charts/$chart" >/dev/null
	done
}

part_install() {
	local helm
	helm=$(hack/tool.sh helm)
	{
		cat <<-YAML
			# SPDX-License-Identifier: Apache-2.0
			#
			# The operator of Shardyard $version, its CRDs and its dashboards. CRDs of this size take server-side apply:
			# kubectl apply --server-side -f install.yaml
			apiVersion: v1
			kind: Namespace
			metadata:
			  name: shardyard-system
		YAML
		# What every cluster has that the chart is for, and helm does not know without asking one.
		"$helm" template shardyard charts/shardyard --namespace shardyard-system --skip-tests \
			--api-versions admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy
	} >"$release/install.yaml"
}

part_node() {
	local folder=$work/node
	check_node
	mkdir "$folder"
	cp bin/shardnode LICENSE "$folder"
	pack shardnode_linux_amd64.tar.gz "$folder"
}

# check_node makes sure that what was built is the node of this version.
check_node() {
	local says
	says=$(bin/shardnode --version)
	[[ $says == "shardnode $version" ]] || fail "bin/shardnode says that it is \"$says\": make build-shardnode"
}

part_images() {
	local image operator binary listed files
	image=$(hack/tool.sh image)
	check_node
	operator=$(program operator)
	for binary in "$operator" bin/shardnode; do
		listed=$(hack/image-files.sh "$binary")
		mapfile -t files <<<"$listed"
		"$image" -format oci -o "$release/${binary##*/}_linux_amd64.oci.tar" -t "$registry/${binary##*/}:$version" \
			-version "$version" -user 65532:65532 -entrypoint "/usr/local/bin/${binary##*/}" "${files[@]}" >>"$release/images.txt"
	done
}

part_sbom() {
	local sbom program binary made
	sbom=$(hack/tool.sh sbom)
	made=$(date --utc --date="@$seconds" +%Y-%m-%dT%H:%M:%SZ)
	for program in operator shardyard; do
		binary=$(program "$program")
		"$sbom" -name "$program" -version "$version" -time "$made" -go "$binary" >"$release/$program.cdx.json"
	done
	(cd node && cargo tree --locked --package shardnode --edges normal,build --target x86_64-unknown-linux-gnu --prefix none \
		--format '{p}|{l}') >"$work/crates"
	"$sbom" -name shardnode -version "$version" -time "$made" -cargo "$work/crates" >"$release/shardnode.cdx.json"
}

# The changes are those since the tag of the release before, by the part of the house that their subject begins with.
part_changes() {
	local before
	{
		echo "# Shardyard $version"
		echo
		if before=$(git describe --tags --abbrev=0 --match 'v[0-9]*' HEAD^ 2>/dev/null); then
			echo "Changes since ${before#v}, by the part that they are of:"
			echo
			git log --reverse --no-merges --format='- %s (%h)' "$before..HEAD" | sort --stable --field-separator=: --key=1,1
		else
			echo "The first release."
		fi
	} >"$release/CHANGELOG.md"
}

for part in "${parts[@]}"; do
	declare -F "part_$part" >/dev/null || fail "no part of a release is named \"$part\""
	echo "writing $part" >&2
	"part_$part"
done

(cd "$release" && sha256sum -- *) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$release"
mkdir -p dist
rm -rf "dist/$version"
mv "$release" "dist/$version"
echo "dist/$version"
