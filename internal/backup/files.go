// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// Write makes a backup of files and folders of a network's folder, in a folder that is
// not there or empty. It fills in the manifest's files. If it fails, there is nothing
// of it.
func Write(ctx context.Context, manifest *Manifest, from, to string, paths []string) (err error) {
	made, err := vacant(to)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, empty(to, made))
		}
	}()
	manifest.Version, manifest.Files = Version, []File{}
	for _, path := range paths {
		if err := manifest.take(ctx, from, to, path); err != nil {
			return err
		}
	}
	content, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	_, err = write(filepath.Join(to, ManifestFile), func(out io.Writer) error {
		_, err := out.Write(append(content, '\n'))
		return err
	})
	return err
}

// vacant makes a folder or finds it empty, and says whether it made it.
func vacant(folder string) (made bool, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return true, os.MkdirAll(folder, dirMode)
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: a backup takes a folder of its own", folder)
	}
	return false, err
}

// empty removes what is in a folder, and the folder itself if that was made.
func empty(folder string, made bool) error {
	if made {
		return os.RemoveAll(folder)
	}
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(folder, entry.Name())))
	}
	return err
}

// take copies a file, or all files of a folder.
func (m *Manifest) take(ctx context.Context, from, to, path string) error {
	return filepath.WalkDir(filepath.Join(from, path), func(name string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is no file that a node writes", name)
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		file, err := copyFile(name, filepath.Join(to, relative))
		if err != nil {
			return err
		}
		file.Path = filepath.ToSlash(relative)
		m.Files = append(m.Files, file)
		return nil
	})
}

// Verify checks every file of a backup. An error names the first that is not what the
// manifest says.
func (m *Manifest) Verify(ctx context.Context, folder string) error {
	for _, want := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := digest(filepath.Join(folder, filepath.FromSlash(want.Path)))
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the backup %s lacks %s", folder, want.Path)
		}
		if err != nil {
			return err
		}
		if err := want.check(got); err != nil {
			return fmt.Errorf("the backup %s is damaged: %w", folder, err)
		}
	}
	return nil
}

// Put copies the files of a backup that lie below a path to a folder, and checks again
// what it copies.
func (m *Manifest) Put(ctx context.Context, folder, below, to string) error {
	for _, want := range m.Files {
		relative, err := filepath.Rel(below, filepath.FromSlash(want.Path))
		if err != nil || !filepath.IsLocal(relative) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		// A path to a file itself is the file's place.
		got, err := copyFile(filepath.Join(folder, filepath.FromSlash(want.Path)), filepath.Join(to, relative))
		if err != nil {
			return err
		}
		if err := want.check(got); err != nil {
			return fmt.Errorf("the backup %s changed while it was read: %w", folder, err)
		}
	}
	return nil
}

func (f File) check(got File) error {
	switch {
	case got.Bytes != f.Bytes:
		return fmt.Errorf("%s has %d bytes, and had %d", f.Path, got.Bytes, f.Bytes)
	case got.SHA256 != f.SHA256:
		return fmt.Errorf("%s has the checksum %s, and had %s", f.Path, got.SHA256, f.SHA256)
	default:
		return nil
	}
}

// copyFile copies a file, durably, and says what was copied.
func copyFile(from, to string) (File, error) {
	in, err := os.Open(from)
	if err != nil {
		return File{}, err
	}
	defer in.Close()
	return write(to, func(out io.Writer) error {
		_, err := io.Copy(out, in)
		return err
	})
}

// write makes a file that is not there, and the folders above it.
func write(path string, fill func(io.Writer) error) (_ File, err error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return File{}, err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	hash := sha256.New()
	counted := &counter{}
	if err := fill(io.MultiWriter(out, hash, counted)); err != nil {
		return File{}, fmt.Errorf("write %s: %w", path, err)
	}
	if err := out.Sync(); err != nil {
		return File{}, err
	}
	return File{Bytes: counted.bytes, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}

// digest says what a file is.
func digest(path string) (File, error) {
	in, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer in.Close()
	hash := sha256.New()
	bytes, err := io.Copy(hash, in)
	if err != nil {
		return File{}, fmt.Errorf("read %s: %w", path, err)
	}
	return File{Bytes: bytes, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}

// counter counts what is written to it.
type counter struct{ bytes int64 }

func (c *counter) Write(content []byte) (int, error) {
	c.bytes += int64(len(content))
	return len(content), nil
}
