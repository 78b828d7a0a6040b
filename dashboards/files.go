// SPDX-License-Identifier: Apache-2.0

// Package dashboards holds the dashboards, as make generate wrote them, and the
// page that shows them without Grafana, as make build-page built it.
package dashboards

import (
	"embed"
	"io/fs"
)

// Definitions are the dashboards, in Grafana's JSON.
//
//go:embed *.json
var Definitions embed.FS

//go:embed page/dist
var built embed.FS

// Page has the files of the page but for the dashboards, which it expects in a
// folder dashboards beside them.
func Page() fs.FS {
	page, err := fs.Sub(built, "page/dist")
	if err != nil {
		panic(err) // The folder has a valid name.
	}
	return page
}
