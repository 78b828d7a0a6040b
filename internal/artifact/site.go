// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/shardyard/shardyard/internal/bench/report"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// SiteFile is the page of all results of a site.
const SiteFile = "index.html"

// WriteSite writes a site of all results below a folder: what it shows is made
// anew from each result. It returns how many there are.
func WriteSite(folder, site string) (int, error) {
	if within, err := filepath.Rel(folder, site); err == nil && filepath.IsLocal(within) {
		// The next site would show what this one holds as well.
		return 0, fmt.Errorf("%s is inside %s, whose results it is to show", site, folder)
	}
	found, err := Find(folder)
	if err != nil {
		return 0, err
	}
	results := make([]report.Named, 0, len(found))
	for _, stored := range found {
		place := placeOf(stored.Result)
		into := filepath.Join(site, filepath.FromSlash(place))
		if err := os.MkdirAll(into, folderMode); err != nil {
			return 0, err
		}
		if err := Write(into, stored.Result); err != nil {
			return 0, err
		}
		if err := copyProfiles(stored, into); err != nil {
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

// copyProfiles copies the profiles that the page of a result links to.
func copyProfiles(stored Stored, into string) error {
	for i := range stored.Result.Runs {
		profile := stored.Result.Runs[i].Profile
		if profile == nil {
			continue
		}
		for _, file := range profile.Files {
			file, err := filepath.Localize(file)
			if err != nil {
				return fmt.Errorf("%s: a file of a profile is not in the artifact: %w", filepath.Join(stored.Folder, ResultFile), err)
			}
			content, err := os.ReadFile(filepath.Join(stored.Folder, file))
			if err != nil {
				return err
			}
			to := filepath.Join(into, file)
			if err := os.MkdirAll(filepath.Dir(to), folderMode); err != nil {
				return err
			}
			if err := os.WriteFile(to, content, fileMode); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeOf is where a result is in a site: a benchmark begins one run at a time.
func placeOf(made *result.Result) string {
	return path.Join(made.Benchmark.Name, made.StartedAt.UTC().Format("20060102T150405.000000000Z"))
}
