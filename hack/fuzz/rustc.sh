#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cargo's RUSTC_WORKSPACE_WRAPPER for make fuzz: compiles the crates of this workspace, and the generic code of others
# that they use, so that libFuzzer sees which of it an input reaches. Other crates stay as they are for every build.
#
# usage: rustc.sh RUSTC ARGUMENT…
set -euo pipefail

exec "$@" -C debug-assertions=on -C passes=sancov-module \
	-C llvm-args=-sanitizer-coverage-level=4 \
	-C llvm-args=-sanitizer-coverage-inline-8bit-counters \
	-C llvm-args=-sanitizer-coverage-pc-table \
	-C llvm-args=-sanitizer-coverage-trace-compares
