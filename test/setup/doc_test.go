// SPDX-License-Identifier: Apache-2.0

// Package setup_test checks that the set-up of every target of the Makefile
// brings every command that the target calls.
//
// What a target calls is read from what it is made of: its recipe, the shell
// scripts that the recipe names and those that these name, the Go that it builds
// and runs, the Rust crates that it compiles. What a set-up brings is tried: in
// a minimal Debian to which only the toolchains are added that the README asks
// for. Commands whose names only a run can tell are out of sight.
//
// It takes root, and Debian's mirror.
package setup_test
