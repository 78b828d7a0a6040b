// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"bytes"
	"os"
	"testing"
)

// The charts of reports are drawn by the same release of uPlot as those of the
// dashboards' page, unchanged.
func TestReportsHaveTheLibraryOfThePage(t *testing.T) {
	const kept, installed = "../../internal/bench/report/assets/", "../../dashboards/page/node_modules/uplot/"
	for file, origin := range map[string]string{
		"uPlot.iife.min.js": "dist/uPlot.iife.min.js", "uPlot.min.css": "dist/uPlot.min.css", "uPlot.LICENSE": "LICENSE",
	} {
		got, err := os.ReadFile(kept + file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(installed + origin)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not %s of the package", file, origin)
		}
	}
}
