// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/shardyard/shardyard/internal/bucket"
)

// contentTypes have browsers show what they are given.
var contentTypes = map[string]string{
	".csv": "text/csv; charset=utf-8", ".html": "text/html; charset=utf-8", ".json": "application/json",
	".svg": "image/svg+xml", ".yaml": "text/plain; charset=utf-8",
}

// Reach says whether a place in a bucket can be looked at: before something is measured
// for it.
func Reach(ctx context.Context, place string) (err error) {
	at, err := bucket.Parse(place)
	if err != nil {
		return err
	}
	opened, err := bucket.Open(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	_, err = opened.Empty(ctx)
	return err
}

// Upload puts an artifact into a folder of its own below a place in a bucket, and says
// where that is, for those who read it there. The result is the last object. Whoever
// does it again finds it done; nothing that is there is ever replaced.
func Upload(ctx context.Context, folder, place string) (_ string, err error) {
	at, err := bucket.Parse(place)
	if err != nil {
		return "", err
	}
	made, err := Read(ctx, folder)
	if err != nil {
		return "", err
	}
	files, err := profiles(made)
	if err != nil {
		return "", err
	}
	into := at.Join(placeOf(made))
	opened, err := bucket.Open(ctx, into)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	batch := opened.NewBatch()
	for _, file := range append(files, Files...) {
		err := put(ctx, opened, batch, file, filepath.Join(folder, filepath.FromSlash(file)))
		if Lacking(file) && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", batch.Fail(ctx, err)
		}
	}
	return into.String(), nil
}

// put puts a file into a bucket, unless the same is there.
func put(ctx context.Context, to *bucket.Bucket, batch *bucket.Batch, name, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	contentType := contentTypes[path.Ext(name)]
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	err = batch.Write(ctx, name, contentType, info.Size(), func(out io.Writer) error {
		_, err := io.Copy(out, in)
		return err
	})
	if !errors.Is(err, bucket.ErrExists) {
		return err
	}
	same, failed := holds(ctx, to, name, from)
	if failed != nil || same {
		return failed
	}
	return fmt.Errorf("%w, and is another", err)
}

// holds says whether an object is what a file is.
func holds(ctx context.Context, in *bucket.Bucket, name, path string) (_ bool, err error) {
	want, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	object, err := in.Read(ctx, name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	got, err := io.ReadAll(io.LimitReader(object, int64(len(want))+1))
	return bytes.Equal(got, want), err
}
