// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"

	"github.com/shardyard/shardyard/internal/version"
)

// Text and JSON are the same version, which of a program that is built for a
// test is of no release.
func TestVersion(t *testing.T) {
	t.Parallel()
	want := version.Get()
	if want.Version != version.Development {
		t.Errorf("the version is %s, want %s", want.Version, version.Development)
	}
	text := "shardyard " + want.String() + "\n"
	if got := shardyard(t, "version"); got != text {
		t.Errorf("the version is %q, want %q", got, text)
	}
	if got := shardyard(t, "--version"); got != text {
		t.Errorf("--version prints %q, want %q", got, text)
	}
	var decoded version.Info
	if err := json.Unmarshal([]byte(shardyard(t, "version", "-o", "json")), &decoded); err != nil {
		t.Fatal(err)
	}
	if decoded != want {
		t.Errorf("in JSON the version is %+v, want %+v", decoded, want)
	}
	lines := shardyardFails(t, "version", "-o", "xml")
	if wanted := `error: unknown output format "xml": want text or json`; len(lines) != 1 || lines[0] != wanted {
		t.Errorf("the errors are %q, want %q", lines, wanted)
	}
}
