// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/shardyard/shardyard/internal/bench/report"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bucket"
)

// SiteFile is the page of all results of a site.
const SiteFile = "index.html"

// WriteSite writes a site of all results below a folder, or the URL of a place in a
// bucket: what it shows is made anew from each result. It returns how many there are.
func WriteSite(ctx context.Context, place, site string) (_ int, err error) {
	if inside, err := isInside(site, place); err != nil {
		return 0, err
	} else if inside {
		// The next site would show what this one holds as well.
		return 0, fmt.Errorf("%s is inside %s, whose results it is to show", site, place)
	}
	from, err := open(ctx, place)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	found, err := find(ctx, from)
	if err != nil {
		return 0, err
	}
	results := make([]report.Named, 0, len(found))
	for _, stored := range found {
		place := placeOf(stored.Result)
		if name := stored.Result.Benchmark.Name; !filepath.IsLocal(filepath.FromSlash(place)) || strings.Contains(name, "/") {
			return 0, fmt.Errorf("%s is of a benchmark %q, which is no name", from.name(path.Join(stored.within, ResultFile)), name)
		}
		into := filepath.Join(site, filepath.FromSlash(place))
		if err := os.MkdirAll(into, folderMode); err != nil {
			return 0, err
		}
		if err := writeShown(into, stored.Result); err != nil {
			return 0, err
		}
		// Not what was read of it: that is without what a newer program added.
		encoded, err := from.read(ctx, path.Join(stored.within, ResultFile))
		if err != nil {
			return 0, err
		}
		if err := writeKept(into, encoded); err != nil {
			return 0, err
		}
		if err := copyProfiles(ctx, from, stored, into); err != nil {
			return 0, err
		}
		results = append(results, report.Named{Name: path.Join(place, ReportFile), Result: stored.Result})
	}
	var page bytes.Buffer
	if err := report.WriteSite(&page, results); err != nil {
		return 0, err
	}
	return len(results), os.WriteFile(filepath.Join(site, SiteFile), page.Bytes(), fileMode)
}

// isInside says whether a folder is inside a place, which may be another way to write it.
func isInside(folder, place string) (bool, error) {
	around, ok, err := bucket.Folder(place)
	if err != nil || !ok {
		return false, err
	}
	if around, err = filepath.Abs(around); err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		return false, err
	}
	within, err := filepath.Rel(around, folder)
	return err == nil && filepath.IsLocal(within), nil
}

// copyProfiles copies the profiles that the page of a result links to.
func copyProfiles(ctx context.Context, from source, stored Stored, into string) error {
	files, err := profiles(stored.Result)
	if err != nil {
		return fmt.Errorf("%s: %w", from.name(path.Join(stored.within, ResultFile)), err)
	}
	for _, file := range files {
		content, err := from.read(ctx, path.Join(stored.within, file))
		if err != nil {
			return err
		}
		to := filepath.Join(into, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), folderMode); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, fileMode); err != nil {
			return err
		}
	}
	return nil
}

// profiles are the files of profiles that the page of a result links to.
func profiles(made *result.Result) ([]string, error) {
	var files []string
	for i := range made.Runs {
		if made.Runs[i].Profile == nil {
			continue
		}
		for _, file := range made.Runs[i].Profile.Files {
			if _, err := filepath.Localize(file); err != nil {
				return nil, fmt.Errorf("a file of a profile is not in the artifact: %w", err)
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// placeOf is where a result is in a site: a benchmark begins one run at a time.
func placeOf(made *result.Result) string {
	return path.Join(made.Benchmark.Name, made.StartedAt.UTC().Format("20060102T150405.000000000Z"))
}
