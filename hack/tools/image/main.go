// SPDX-License-Identifier: Apache-2.0

// Command image writes a container image with one layer of local files, as a docker-archive or as an archive of an OCI
// image layout. The same files give the same bytes: entries are sorted, and all times and owners are fixed.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const usage = `usage: image -o ARCHIVE -t NAME:TAG [-format docker|oci] [-user UID] [-entrypoint PATH] [-version VERSION] SOURCE:TARGET...

Each SOURCE is a file or a symbolic link, which is followed, and gets the absolute path TARGET in the image. An archive of
the format oci prints the digest of the image.
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	archive := flags.String("o", "", "")
	reference := flags.String("t", "", "")
	format := flags.String("format", "docker", "")
	user := flags.String("user", "", "")
	entrypoint := flags.String("entrypoint", "", "")
	version := flags.String("version", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *archive == "" || *reference == "" || flags.NArg() == 0 {
		flags.Usage()
		return errors.New("-o, -t and at least one file are required")
	}
	write, known := formats[*format]
	if !known {
		return fmt.Errorf("there is no format %q: want docker or oci", *format)
	}

	tag, err := name.NewTag(*reference)
	if err != nil {
		return fmt.Errorf("read the image's name: %w", err)
	}
	files, err := parseFiles(flags.Args())
	if err != nil {
		return err
	}
	content, err := layer(files)
	if err != nil {
		return err
	}
	config := v1.Config{User: *user}
	if *entrypoint != "" {
		config.Entrypoint = []string{*entrypoint}
	}
	if *version != "" {
		config.Labels = map[string]string{"org.opencontainers.image.version": *version}
	}
	image, err := build(content, config, *format)
	if err != nil {
		return fmt.Errorf("build %s: %w", tag, err)
	}
	return replace(*archive, func(out io.Writer) error { return write(out, tag, image) })
}

// formats write an image as an archive.
var formats = map[string]func(io.Writer, name.Tag, v1.Image) error{
	"docker": func(out io.Writer, tag name.Tag, image v1.Image) error { return tarball.Write(tag, image, out) },
	"oci":    writeLayout,
}

// layerTypes are what the formats call a layer.
var layerTypes = map[string]types.MediaType{"docker": types.DockerLayer, "oci": types.OCILayer}

// parseFiles maps each absolute path in the image to the local file it is made from.
func parseFiles(args []string) (map[string]string, error) {
	files := make(map[string]string, len(args))
	for _, arg := range args {
		source, target, found := strings.Cut(arg, ":")
		if !found || !path.IsAbs(target) || path.Clean(target) != target {
			return nil, fmt.Errorf("%q is not SOURCE:TARGET with an absolute TARGET", arg)
		}
		if other, taken := files[target]; taken {
			return nil, fmt.Errorf("%s is to hold both %s and %s", target, other, source)
		}
		files[target] = source
	}
	return files, nil
}

// layer packs the files and the folders that hold them.
func layer(files map[string]string) ([]byte, error) {
	var content bytes.Buffer
	archive := tar.NewWriter(&content)
	for _, folder := range folders(files) {
		header := &tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(folder, "/") + "/", Mode: 0o755}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", folder, err)
		}
	}
	for _, target := range sortedKeys(files) {
		if err := pack(archive, files[target], target); err != nil {
			return nil, fmt.Errorf("pack %s: %w", target, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("pack the layer: %w", err)
	}
	return content.Bytes(), nil
}

// folders lists every folder above a file, parents first.
func folders(files map[string]string) []string {
	parents := map[string]string{}
	for target := range files {
		for folder := path.Dir(target); folder != "/"; folder = path.Dir(folder) {
			parents[folder] = ""
		}
	}
	return sortedKeys(parents)
}

func sortedKeys(files map[string]string) []string {
	keys := make([]string, 0, len(files))
	for key := range files {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func pack(archive *tar.Writer, source, target string) error {
	content, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	// Of the mode only whether it runs is kept: the rest depends on the umask of whoever built the file.
	mode := int64(0o644)
	if info.Mode().Perm()&0o111 != 0 {
		mode = 0o755
	}
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: strings.TrimPrefix(target, "/"), Mode: mode, Size: int64(len(content)),
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = archive.Write(content)
	return err
}

func build(content []byte, config v1.Config, format string) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(layerTypes[format]))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config = config
	return mutate.ConfigFile(image, file)
}

// replace replaces a file in one step, so that whoever reads it meanwhile gets the old or the new one.
func replace(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	partial, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial.Name()) }()
	if err := write(partial); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, partial.Close()))
	}
	if err := partial.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Chmod(partial.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(partial.Name(), path)
}
