// SPDX-License-Identifier: Apache-2.0

package statedir

import "testing"

func TestDefaultStateDir(t *testing.T) {
	for _, test := range []struct{ state, home, want string }{
		{"/state", "/home/ada", "/state/shardyard"},
		{"", "/home/ada", "/home/ada/.local/state/shardyard"},
		{"not/absolute", "/home/ada", "/home/ada/.local/state/shardyard"},
	} {
		t.Setenv("XDG_STATE_HOME", test.state)
		t.Setenv("HOME", test.home)
		if got, err := Default(); err != nil || got != test.want {
			t.Errorf("with %q and %q, the folder is %q (%v), want %q", test.state, test.home, got, err, test.want)
		}
	}
}
