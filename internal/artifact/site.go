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
		results = append(results, report.Named{Name: path.Join(place, ReportFile), Result: stored.Result})
	}
	var page bytes.Buffer
	if err := report.WriteSite(&page, results); err != nil {
		return 0, err
	}
	return len(results), os.WriteFile(filepath.Join(site, SiteFile), page.Bytes(), fileMode)
}

// placeOf is where a result is in a site: a benchmark begins one run at a time.
func placeOf(made *result.Result) string {
	return path.Join(made.Benchmark.Name, made.StartedAt.UTC().Format("20060102T150405.000000000Z"))
}
