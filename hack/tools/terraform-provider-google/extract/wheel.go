// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readWheel reads the compiled JavaScript of the bindings, by module. A wheel
// carries it as a gzipped tar.
func readWheel(file string) (map[string]string, error) {
	wheel, err := zip.OpenReader(file)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	defer wheel.Close()

	for _, entry := range wheel.File {
		if strings.HasSuffix(entry.Name, ".jsii.tgz") {
			sources, err := readBindings(entry)
			if err != nil {
				return nil, fmt.Errorf("read %s of %s: %w", entry.Name, file, err)
			}
			return sources, nil
		}
	}
	return nil, fmt.Errorf("%s holds no bindings", file)
}

func readBindings(entry *zip.File) (map[string]string, error) {
	compressed, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer compressed.Close()
	uncompressed, err := gzip.NewReader(compressed)
	if err != nil {
		return nil, err
	}

	sources := map[string]string{}
	archive := tar.NewReader(uncompressed)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return sources, nil
		}
		if err != nil {
			return nil, err
		}
		module := moduleAt(header.Name)
		if module == "" {
			continue
		}
		source, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		sources[module] += string(source) + "\n"
	}
}
