// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/shardyard/shardyard/internal/bucket"
)

const contentType = "application/octet-stream"

// objects is a place in a bucket.
type objects struct {
	*bucket.Bucket

	// batch are the objects that are put there.
	batch *bucket.Batch
}

func (o *objects) claim(ctx context.Context) error {
	switch empty, err := o.Empty(ctx); {
	case err != nil:
		return err
	case !empty:
		return fmt.Errorf("%s is not empty: a backup takes a place of its own", o)
	default:
		return nil
	}
}

func (o *objects) put(ctx context.Context, path string, size int64, fill func(io.Writer) error) error {
	return o.batch.Write(ctx, path, contentType, size, fill)
}

func (o *objects) get(ctx context.Context, path string) (io.ReadCloser, error) {
	return o.Read(ctx, path)
}

func (o *objects) fail(ctx context.Context, cause error) error { return o.batch.Fail(ctx, cause) }

func (o *objects) clear(ctx context.Context, isOne func(string) bool) error {
	names, err := o.List(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if first, _, _ := strings.Cut(name, "/"); !isOne(first) {
			continue
		}
		err = errors.Join(err, o.Remove(ctx, name))
	}
	return err
}
