// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// Console shows what happens, line by line. On a terminal, the last line may be
// a live one: it is written over again and again.
type Console struct {
	mu  sync.Mutex
	out io.Writer
	// width is the width of the terminal; nil when there is none.
	width func() int
	// live is the live line that is on the terminal.
	live string
}

// eraseLine goes to the beginning of the line and erases it.
const eraseLine = "\r\x1b[K"

// New is a console that writes to out.
func New(out io.Writer) *Console {
	console := &Console{out: out}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		console.width = func() int {
			width, _, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	}
	return console
}

// Printf writes a line that stays.
func (c *Console) Printf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if c.live == "" {
		_, _ = fmt.Fprintln(c.out, line)
		return
	}
	_, _ = fmt.Fprint(c.out, eraseLine+line+"\n"+c.live)
}

// Show writes the live line. Where lines cannot be written over, it is a line
// like any other.
func (c *Console) Show(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.width == nil {
		_, _ = fmt.Fprintln(c.out, line)
		return
	}
	// A line that wraps cannot be erased as one.
	if runes, width := []rune(line), c.width(); width > 0 && len(runes) >= width {
		line = string(runes[:width-1])
	}
	c.live = line
	_, _ = fmt.Fprint(c.out, eraseLine+line)
}

// Settle lets the live line stay as it is; the next one is a new line.
func (c *Console) Settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live != "" {
		c.live = ""
		_, _ = fmt.Fprintln(c.out)
	}
}
