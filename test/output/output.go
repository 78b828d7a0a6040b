// SPDX-License-Identifier: Apache-2.0

// Package output has what a program or a task of a test writes, to be read while it writes.
package output

import (
	"bytes"
	"sync"
)

// Buffer is what several may write to and read at the same time. The zero value is empty.
type Buffer struct {
	lock    sync.Mutex
	content bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(content []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.content.Write(content)
}

// String is all that was written so far.
func (b *Buffer) String() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.content.String()
}
