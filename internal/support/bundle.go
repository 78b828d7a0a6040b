// SPDX-License-Identifier: Apache-2.0

// Package support packs what somebody needs to see who is asked for help with a
// network, and none of its secrets.
//
// Whoever fills a bundle adds only what is no secret, file by file. As a second
// line, secrets that it knows are hidden wherever they appear.
package support

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// MissingFile is the file of a bundle that says what could not be had.
const MissingFile = "missing.txt"

// hidden takes the place of a secret.
const hidden = "(hidden)"

// Bundle is a bundle while it is filled.
type Bundle struct {
	archive *tar.Writer
	zip     *gzip.Writer
	folder  string
	at      time.Time
	secrets [][]byte
	missing []string
}

// NewBundle begins a bundle, as an archive of one folder, whose files are all of
// one time.
func NewBundle(out io.Writer, folder string, at time.Time) *Bundle {
	zip := gzip.NewWriter(out)
	return &Bundle{archive: tar.NewWriter(zip), zip: zip, folder: folder, at: at}
}

// Hide has a secret hidden in all that is added from now on.
func (b *Bundle) Hide(secret string) {
	if secret = strings.TrimSpace(secret); secret != "" {
		b.secrets = append(b.secrets, []byte(secret))
	}
}

// Add adds a file.
func (b *Bundle) Add(name string, content []byte) error {
	for _, secret := range b.secrets {
		content = bytes.ReplaceAll(content, secret, []byte(hidden))
	}
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: path.Join(b.folder, name), Mode: 0o644, Size: int64(len(content)), ModTime: b.at,
	}
	if err := b.archive.WriteHeader(header); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	if _, err := b.archive.Write(content); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}

// Miss notes that something could not be had, which keeps nothing else out.
func (b *Bundle) Miss(name string, err error) {
	b.missing = append(b.missing, fmt.Sprintf("%s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", " ")))
}

// Missing are the lines that say what could not be had.
func (b *Bundle) Missing() []string {
	return b.missing
}

// Close ends the bundle.
func (b *Bundle) Close() error {
	err := b.Add(MissingFile, []byte(strings.Join(b.missing, "")))
	return errors.Join(err, b.archive.Close(), b.zip.Close())
}
