// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// folder is a place on a disk of this machine.
type folder struct {
	path string
	// made says that it was not there before it was claimed.
	made bool
}

func (f *folder) String() string { return f.path }

func (f *folder) Close() error { return nil }

func (f *folder) file(path string) string { return filepath.Join(f.path, filepath.FromSlash(path)) }

func (f *folder) claim(context.Context) error {
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, os.ErrNotExist) {
		f.made = true
		return os.MkdirAll(f.path, dirMode)
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: a backup takes a folder of its own", f)
	}
	return err
}

func (f *folder) put(_ context.Context, path string, _ int64, fill func(io.Writer) error) error {
	return write(f.file(path), fill)
}

func (f *folder) get(_ context.Context, path string) (io.ReadCloser, error) {
	return os.Open(f.file(path))
}

// fail removes all that is in the folder, which had nothing in it, and the folder itself
// if it was made.
func (f *folder) fail(ctx context.Context, cause error) error {
	if f.made {
		return errors.Join(cause, os.RemoveAll(f.path))
	}
	return errors.Join(cause, f.clear(ctx, func(string) bool { return true }))
}

func (f *folder) clear(_ context.Context, isOne func(string) bool) error {
	entries, err := os.ReadDir(f.path)
	for _, entry := range entries {
		if !isOne(entry.Name()) {
			continue
		}
		err = errors.Join(err, os.RemoveAll(filepath.Join(f.path, entry.Name())))
	}
	return err
}

// write makes a file that is not there, durably, and the folders above it.
func write(path string, fill func(io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := fill(out); err != nil {
		return err
	}
	return out.Sync()
}
