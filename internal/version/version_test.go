// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime"
	"testing"
)

func TestGet(t *testing.T) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	tests := map[string]struct {
		release, commit string
		want            string
	}{
		"of a release": {"1.2.3", "abcdef", "1.2.3 (commit abcdef, " + runtime.Version() + ", " + platform + ")"},
		"of none":      {"", "", "development (" + runtime.Version() + ", " + platform + ")"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			release, commit = test.release, test.commit
			t.Cleanup(func() { release, commit = "", "" })
			if got := Get().String(); got != test.want {
				t.Errorf("the version is %q, want %q", got, test.want)
			}
		})
	}
}
