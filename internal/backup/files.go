// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many files are copied or read at a time. Each takes a few parts of
// memory at most.
const atOnce = 4

// Write makes a backup of files and folders of a network's folder, in a place that has
// nothing in it. It fills in the manifest's files. If it fails, there is nothing of it.
func Write(ctx context.Context, manifest *Manifest, from string, to Place, paths []string) (err error) {
	if err := to.claim(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = to.fail(ctx, err)
		}
	}()
	if manifest.Files, err = take(ctx, from, to, paths); err != nil {
		return err
	}
	return manifest.seal(ctx, to)
}

// seal writes the manifest, which makes a backup of what lies beside it.
func (m *Manifest) seal(ctx context.Context, to Place) error {
	m.Version = Version
	return putJSON(ctx, to, ManifestFile, m)
}

// putJSON writes a file that is not there.
func putJSON(ctx context.Context, to Place, path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	content = append(content, '\n')
	return to.put(ctx, path, int64(len(content)), func(out io.Writer) error {
		_, err := out.Write(content)
		return err
	})
}

// getJSON reads a value. One that is not there is an fs.ErrNotExist.
func getJSON(ctx context.Context, from Place, path string, value any) (err error) {
	in, err := from.get(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return json.NewDecoder(in).Decode(value)
}

// take copies files and folders, and says what was copied.
func take(ctx context.Context, from string, to Place, paths []string) ([]File, error) {
	listed := &Manifest{Files: []File{}}
	for _, path := range paths {
		if err := listed.list(ctx, from, path); err != nil {
			return nil, err
		}
	}
	err := listed.each(ctx, func(ctx context.Context, file *File) error { return file.take(ctx, from, to) })
	return listed.Files, err
}

// list notes a file, or all files of a folder, with their sizes. A file that is named may
// be a link, as those are that a pod finds in the volume of a Secret.
func (m *Manifest) list(ctx context.Context, from, path string) error {
	if info, err := os.Stat(filepath.Join(from, path)); err == nil && info.Mode().IsRegular() {
		m.Files = append(m.Files, File{Path: filepath.ToSlash(path), Bytes: info.Size()})
		return nil
	}
	return filepath.WalkDir(filepath.Join(from, path), func(name string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is no file that a node writes", name)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, File{Path: filepath.ToSlash(relative), Bytes: info.Size()})
		return nil
	})
}

// each does something with all files, a few at a time, until the first error.
func (m *Manifest) each(ctx context.Context, do func(context.Context, *File) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range m.Files {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, &m.Files[i])
		})
	}
	return group.Wait()
}

// take copies a file, and notes what was copied.
func (f *File) take(ctx context.Context, from string, to Place) error {
	in, err := os.Open(filepath.Join(from, filepath.FromSlash(f.Path)))
	if err != nil {
		return err
	}
	defer in.Close()
	digest := newDigest()
	if err := to.put(ctx, f.Path, f.Bytes, func(out io.Writer) error {
		_, err := io.Copy(out, io.TeeReader(until(ctx, in), digest))
		return err
	}); err != nil {
		return err
	}
	f.Bytes, f.SHA256 = digest.bytes, digest.sum()
	return nil
}

// Verify checks every file of a backup. An error names one that is not what the manifest
// says.
func (m *Manifest) Verify(ctx context.Context, from Place) error {
	return m.each(ctx, func(ctx context.Context, file *File) error {
		return file.read(ctx, from, io.Discard)
	})
}

// Put copies files of a backup to a folder, those that are wanted, each to the path that
// place gives it there, and checks what it copies. What it copied before an error is left
// to the caller.
func (m *Manifest) Put(ctx context.Context, from Place, to string, place func(path string) (in string, wanted bool)) error {
	return m.each(ctx, func(ctx context.Context, file *File) error {
		path, wanted := place(file.Path)
		if !wanted {
			return nil
		}
		return write(filepath.Join(to, filepath.FromSlash(path)), func(out io.Writer) error {
			return file.read(ctx, from, out)
		})
	})
}

// read copies a file and checks what it copied.
func (f *File) read(ctx context.Context, from Place, out io.Writer) (err error) {
	in, err := from.get(ctx, f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the backup %s lacks %s", from, f.Path)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	got := newDigest()
	// Whatever comes beyond what the file had need not be read to tell that it is another.
	if _, err := io.Copy(io.MultiWriter(out, got), io.LimitReader(until(ctx, in), f.Bytes+1)); err != nil {
		return err
	}
	switch sum := got.sum(); {
	case got.bytes > f.Bytes:
		return fmt.Errorf("the backup %s is damaged: %s has more than the %d bytes that it had", from, f.Path, f.Bytes)
	case got.bytes < f.Bytes:
		return fmt.Errorf("the backup %s is damaged: %s has %d bytes, and had %d", from, f.Path, got.bytes, f.Bytes)
	case sum != f.SHA256:
		return fmt.Errorf("the backup %s is damaged: %s has the checksum %s, and had %s", from, f.Path, sum, f.SHA256)
	default:
		return nil
	}
}
