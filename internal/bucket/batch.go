// SPDX-License-Identifier: Apache-2.0

package bucket

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"
)

const (
	// removalTimeout bounds the removal of what was written when somebody ends it.
	removalTimeout = time.Minute
	// settlingTime is how long a server may take to make an object of what it had of a
	// write that was given up.
	settlingTime = 500 * time.Millisecond
)

// Batch are objects that belong together: all of them are there in the end, or none is.
// Several may be written at a time.
type Batch struct {
	bucket *Bucket
	// id is in the metadata of its objects, and of no others.
	id string

	mutex sync.Mutex
	// written are the objects that were written, and unsure those that may be there and may
	// be somebody else's.
	written, unsure []string
}

// NewBatch is one without objects.
func (b *Bucket) NewBatch() *Batch { return &Batch{bucket: b, id: rand.Text()} }

// Write writes an object as Bucket.Write does.
func (b *Batch) Write(ctx context.Context, name, contentType string, size int64, fill func(io.Writer) error) error {
	err := b.bucket.write(ctx, name, contentType, size, fill, b.id)
	unsure := err != nil && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrNoCredentials)
	if errors.Is(err, ErrExists) {
		// An answer that was lost has the library write it a second time.
		switch own, failed := b.owns(ctx, name); {
		case failed != nil:
			err = fmt.Errorf("%w, and nobody knows who wrote it: %w", err, failed)
		case own:
			err = nil
		default:
			// What somebody else wrote there meanwhile is theirs.
			unsure = false
		}
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch {
	case err == nil:
		b.written = append(b.written, name)
	case unsure:
		b.unsure = append(b.unsure, name)
	}
	return err
}

// owns says whether an object is there and is this batch's.
func (b *Batch) owns(ctx context.Context, name string) (bool, error) {
	id, err := b.bucket.batchOf(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return id == b.id, err
}

// Fail is why a batch is not complete, once the objects that were written are removed,
// also for somebody who ended it; in the same sentence it says if some are not.
func (b *Batch) Fail(ctx context.Context, cause error) error {
	if err := b.undo(ctx); err != nil {
		return fmt.Errorf("%w; and %w", cause, err)
	}
	return cause
}

func (b *Batch) undo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalTimeout)
	defer cancel()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	left, err := b.removeAll(ctx, b.written)
	if len(b.unsure) > 0 {
		settled := time.NewTimer(settlingTime)
		defer settled.Stop()
		select {
		case <-ctx.Done():
		case <-settled.C:
		}
		unsure, failed := b.removeOwn(ctx, b.unsure)
		left, err = left+unsure, cmp.Or(err, failed)
	}
	if left > 0 {
		return fmt.Errorf("%s may keep %d objects of what is not complete: %w", b.bucket, left, err)
	}
	return nil
}

// removeAll removes objects, and says how many may still be there, and of the last one
// why.
func (b *Batch) removeAll(ctx context.Context, names []string) (left int, last error) {
	for _, name := range names {
		if err := b.bucket.Remove(ctx, name); err != nil {
			left, last = left+1, err
		}
	}
	return left, last
}

// removeOwn removes those of some objects that are this batch's, and says as removeAll
// does how many of these may still be there. One that nobody can look at stays.
func (b *Batch) removeOwn(ctx context.Context, names []string) (left int, last error) {
	var own []string
	for _, name := range names {
		switch is, err := b.owns(ctx, name); {
		case err != nil:
			left, last = left+1, err
		case is:
			own = append(own, name)
		}
	}
	kept, err := b.removeAll(ctx, own)
	return left + kept, cmp.Or(err, last)
}
