// SPDX-License-Identifier: Apache-2.0

// Command image writes a container image with one layer of local files as a docker-archive. The same files give the
// same bytes: entries are sorted, and all times and owners are fixed.
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
)

const usage = `usage: image -o ARCHIVE -t NAME:TAG [-user UID] [-entrypoint PATH] [-version VERSION] SOURCE:TARGET...

Each SOURCE is a file or a symbolic link, which is followed, and gets the absolute path TARGET in the image.
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
	image, err := build(content, config)
	if err != nil {
		return fmt.Errorf("build %s: %w", tag, err)
	}
	return write(*archive, tag, image)
}

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

func build(content []byte, config v1.Config) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	})
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

// write replaces the archive in one step, so that whoever reads it meanwhile gets the old or the new one.
func write(archive string, tag name.Tag, image v1.Image) error {
	if err := os.MkdirAll(filepath.Dir(archive), 0o755); err != nil {
		return err
	}
	partial, err := os.CreateTemp(filepath.Dir(archive), filepath.Base(archive)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial.Name()) }()
	if err := tarball.Write(tag, image, partial); err != nil {
		return fmt.Errorf("write %s: %w", archive, errors.Join(err, partial.Close()))
	}
	if err := partial.Close(); err != nil {
		return fmt.Errorf("write %s: %w", archive, err)
	}
	if err := os.Chmod(partial.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(partial.Name(), archive)
}
