// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// writeLayout writes an image as an archive of an OCI image layout, and prints its digest, which is the one that it has in
// a registry.
func writeLayout(out io.Writer, tag name.Tag, image v1.Image) error {
	image = mutate.ConfigMediaType(mutate.MediaType(image, types.OCIManifestSchema1), types.OCIConfigJSON)
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendImage(image, layout.WithAnnotations(map[string]string{
		// The names by which containerd and the tools of other registries know what they import.
		"io.containerd.image.name":          tag.Name(),
		"org.opencontainers.image.ref.name": tag.TagStr(),
	})); err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	if err := packFolder(archive, os.DirFS(folder)); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	_, err = fmt.Printf("%s@%s\n", tag.Context(), digest)
	return err
}

// packFolder packs all files of a folder, in the order of their names.
func packFolder(archive *tar.Writer, folder fs.FS) error {
	return fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if entry.IsDir() {
			return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path + "/", Mode: 0o755})
		}
		content, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
}
