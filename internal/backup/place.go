// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"io"

	"github.com/shardyard/shardyard/internal/bucket"
)

// Place is where a backup is, and nothing else.
type Place interface {
	// String names the place in sentences.
	fmt.Stringer
	io.Closer

	// claim refuses a place that has something in it.
	claim(ctx context.Context) error
	// put writes a file that is not there, of a size, whole or not at all, from what fill
	// gives.
	put(ctx context.Context, path string, size int64, fill func(io.Writer) error) error
	// get reads a file. One that is not there is an fs.ErrNotExist.
	get(ctx context.Context, path string) (io.ReadCloser, error)
	// fail is why a backup is not complete, once what was put there is removed.
	fail(ctx context.Context, cause error) error
	// clear removes what is there, if the first name of its path is one of some.
	clear(ctx context.Context, isOne func(first string) bool) error
}

// Open finds the place that a path, a file:// URL or the URL of a bucket names.
func Open(ctx context.Context, place string) (Place, error) {
	path, ok, err := bucket.Folder(place)
	if err != nil {
		return nil, err
	}
	if ok {
		return &folder{path: path}, nil
	}
	at, err := bucket.Parse(place)
	if err != nil {
		return nil, err
	}
	opened, err := bucket.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	return &objects{Bucket: opened, batch: opened.NewBatch()}, nil
}
