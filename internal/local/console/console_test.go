// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"testing"
)

// Off a terminal, the live line is a line like any other.
func TestConsoleWithoutTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	console := New(&out)
	console.Show("live 1")
	console.Printf("line %d", 1)
	console.Show("live 2")
	console.Settle()
	if got, want := out.String(), "live 1\nline 1\nlive 2\n"; got != want {
		t.Errorf("the output is %q, want %q", got, want)
	}
}

// On a terminal, the live line is written over, never wraps, and stays below
// the other lines.
func TestConsoleOnTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	console := New(&out)
	console.width = func() int { return 7 }
	console.Show("live 1")
	console.Show("live 2 and more")
	console.Printf("line")
	console.Settle()
	console.Settle()
	console.Printf("end")
	want := eraseLine + "live 1" + eraseLine + "live 2" + eraseLine + "line\nlive 2" + "\n" + "end\n"
	if got := out.String(); got != want {
		t.Errorf("the output is %q, want %q", got, want)
	}
}
