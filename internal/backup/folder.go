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
	"sync"
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

	mutex sync.Mutex
	// written are the files that were put there by this backup, whole or not: another may
	// have found the folder empty at the same time.
	written []string
	// folders are those of such files, and of files that could not be made.
	folders []string
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
	name := f.file(path)
	f.note(&f.folders, filepath.Dir(name))
	return write(name, func(out io.Writer) error {
		// Only who made the file gets here.
		f.note(&f.written, name)
		return fill(out)
	})
}

// note adds what is to be removed if the backup fails.
func (f *folder) note(list *[]string, path string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	*list = append(*list, path)
}

func (f *folder) get(_ context.Context, path string) (io.ReadCloser, error) {
	return os.Open(f.file(path))
}

// fail removes the files that were put there, the folders that have nothing in them then,
// and the folder itself if it was made.
func (f *folder) fail(_ context.Context, cause error) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, name := range f.written {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			cause = errors.Join(cause, err)
		}
	}
	root := filepath.Clean(f.path)
	for _, folder := range f.folders {
		cause = errors.Join(cause, removeEmpty(folder, root))
	}
	if f.made {
		cause = errors.Join(cause, removeEmpty(root, filepath.Dir(root)))
	}
	return cause
}

// removeEmpty removes a folder and those above it, below another one, until one has
// something in it.
func removeEmpty(folder, below string) error {
	for ; folder != below; folder = filepath.Dir(folder) {
		switch err := os.Remove(folder); {
		case errors.Is(err, os.ErrExist):
			// That is what a folder says that is not empty.
			return nil
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return err
		}
	}
	return nil
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
