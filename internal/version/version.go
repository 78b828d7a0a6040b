// SPDX-License-Identifier: Apache-2.0

// Package version says which version of Shardyard a program is of.
package version

import (
	"fmt"
	"runtime"
)

// Development is the version of a program that is of no release.
const Development = "development"

// release and commit are what the linker is told when a release is made: -X of
// these names. A program that is built in any other way is of no release.
var release, commit string

// Info is which version a program is of, and what it was built with and for.
type Info struct {
	// Version is that of a release, such as 0.1.0, or Development.
	Version string `json:"version"`
	// Commit is what the release was made from, in hexadecimal; empty without one.
	Commit string `json:"commit,omitempty"`
	// Go is the version of Go that compiled the program.
	Go string `json:"go"`
	// Platform is what the program runs on: the operating system and the processor.
	Platform string `json:"platform"`
}

// Get tells the version of this program.
func Get() Info {
	info := Info{
		Version: release, Commit: commit,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info.Version == "" {
		info.Version = Development
	}
	return info
}

// String is all of it in one line.
func (i Info) String() string {
	of := i.Go + ", " + i.Platform
	if i.Commit != "" {
		of = "commit " + i.Commit + ", " + of
	}
	return fmt.Sprintf("%s (%s)", i.Version, of)
}
