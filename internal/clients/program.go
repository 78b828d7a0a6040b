// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// maxLine is how much of the last line of a loader is said.
const maxLine = 1024

// Program is a node program, whose loader is run.
type Program struct {
	// Path is where it is, and Genesis the document of the network.
	Path, Genesis string
	// Log is where a loader says how far it is.
	Log io.Writer
}

// Check says why there can be no loader; nil if there can.
func (p *Program) Check() error {
	if _, err := exec.LookPath(p.Path); err != nil {
		return fmt.Errorf("find the node program: %w", err)
	}
	genesis, err := os.Open(p.Genesis)
	if err != nil {
		return fmt.Errorf("find the genesis document: %w", err)
	}
	return genesis.Close()
}

// Run runs a loader to its end, and returns what it says. It is killed when the
// context is done.
func (p *Program) Run(ctx context.Context, step *Step) ([]byte, error) {
	var document bytes.Buffer
	last := &lastLine{}
	command := exec.CommandContext(ctx, p.Path, step.Arguments(p.Genesis)...)
	command.Stdout, command.Stderr = &document, io.MultiWriter(p.Log, last)
	if err := command.Run(); err != nil {
		if words := last.String(); words != "" {
			return nil, fmt.Errorf("ended with an error: %w: %s", err, words)
		}
		return nil, fmt.Errorf("ended with an error: %w", err)
	}
	return document.Bytes(), nil
}

// hint begins the line that a program of Rust ends with when it panics. The one before
// says why.
const hint = "note: "

// lastLine keeps the last line of what is written that says something.
type lastLine struct {
	content []byte
	// before is the line before, for as long as the last one may be a hint.
	before []byte
	// ended says that the next byte begins another line.
	ended bool
}

// Write keeps the last line, and of a long one the beginning.
func (l *lastLine) Write(written []byte) (int, error) {
	for _, letter := range written {
		switch {
		case letter == '\n':
			l.ended = true
			continue
		case l.ended:
			if !l.hints() {
				l.before = append(l.before[:0], l.content...)
			}
			l.content, l.ended = l.content[:0], false
		}
		if len(l.content) < maxLine {
			l.content = append(l.content, letter)
		}
	}
	return len(written), nil
}

func (l *lastLine) hints() bool { return bytes.HasPrefix(l.content, []byte(hint)) }

// String is the line.
func (l *lastLine) String() string {
	if l.hints() {
		return string(l.before)
	}
	return string(l.content)
}
