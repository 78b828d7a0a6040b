// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/shardyard/shardyard/internal/bucket"
)

// source is where results are read from. Paths in it have slashes.
type source interface {
	// name is what a path is called in sentences.
	name(path string) string
	// list are all files.
	list(ctx context.Context) ([]string, error)
	read(ctx context.Context, path string) ([]byte, error)
	close() error
}

// open opens what a path, a file:// URL or the URL of a bucket names, which may be the
// file of a result instead of its folder.
func open(ctx context.Context, place string) (source, error) {
	folder, ok, err := bucket.Folder(place)
	if err != nil {
		return nil, err
	}
	if ok {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folderSource(folder), nil
		}
		return &file{folderSource(filepath.Dir(folder)), filepath.Base(folder)}, nil
	}
	at, err := bucket.Parse(place)
	if err != nil {
		return nil, err
	}
	if path.Base(at.Prefix) == ResultFile {
		at.Prefix = strings.Trim(strings.TrimSuffix(at.Prefix, ResultFile), "/")
	}
	opened, err := bucket.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	return &bucketSource{opened, at}, nil
}

// folderSource is a folder of this machine.
type folderSource string

func (f folderSource) name(path string) string {
	return filepath.Join(string(f), filepath.FromSlash(path))
}

func (f folderSource) list(ctx context.Context) ([]string, error) {
	var files []string
	err := filepath.WalkDir(string(f), func(path string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(string(f), path)
		files = append(files, filepath.ToSlash(relative))
		return err
	})
	return files, err
}

func (f folderSource) read(_ context.Context, path string) ([]byte, error) {
	return os.ReadFile(f.name(path))
}

func (f folderSource) close() error { return nil }

// file is a result in a file of any name.
type file struct {
	folderSource
	result string
}

func (f *file) list(context.Context) ([]string, error) { return []string{ResultFile}, nil }

func (f *file) name(path string) string {
	if path == ResultFile {
		path = f.result
	}
	return f.folderSource.name(path)
}

func (f *file) read(_ context.Context, path string) ([]byte, error) { return os.ReadFile(f.name(path)) }

// bucketSource is a place in a bucket.
type bucketSource struct {
	*bucket.Bucket
	at *bucket.URL
}

func (b *bucketSource) name(path string) string { return b.at.Object(path) }

func (b *bucketSource) list(ctx context.Context) ([]string, error) { return b.List(ctx) }

func (b *bucketSource) read(ctx context.Context, path string) (_ []byte, err error) {
	in, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return io.ReadAll(in)
}

func (b *bucketSource) close() error { return b.Close() }

// Name is what a place with a result is called beside others: its folder.
func Name(place string) string {
	if bucket.IsURL(place) {
		place, _, _ = strings.Cut(place, "?")
	}
	return filepath.Base(filepath.Clean(place))
}
