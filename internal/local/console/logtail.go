// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	tailLines = 20
	tailBytes = 16 << 10
)

// Tail returns the last lines of a log.
func Tail(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}

	begin := max(info.Size()-tailBytes, 0)
	content := make([]byte, info.Size()-begin)
	if _, err := file.ReadAt(content, begin); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if begin > 0 {
		// The first line is cut off.
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	content = bytes.TrimRight(content, "\n")
	if len(content) == 0 {
		return nil, nil
	}
	lines := strings.Split(string(content), "\n")
	return lines[max(len(lines)-tailLines, 0):], nil
}

// PrintLogTail shows the last lines of a log.
func (c *Console) PrintLogTail(path string) {
	lines, err := Tail(path)
	if err != nil {
		c.Printf("the log cannot be shown: %v", err)
		return
	}
	c.Printf("the last lines of %s:", path)
	for _, line := range lines {
		c.Printf("  %s", line)
	}
}
