// SPDX-License-Identifier: Apache-2.0

package report

import (
	"path"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// profileRow is what the validators of a run took of themselves.
type profileRow struct {
	Run, Kind, Taken string
	Files            []profileFile
}

// profileFile is a file of a profile, by its place beside the page.
type profileFile struct {
	Link, Name string
}

func profileRows(runs []labelled) []profileRow {
	var rows []profileRow
	for _, labelled := range runs {
		profile := labelled.run.Profile
		if profile == nil {
			continue
		}
		row := profileRow{Run: labelled.label, Kind: profile.Kind, Taken: "after the measurement"}
		if profile.Taken == result.ProfileDuring {
			row.Taken = "during the measurement"
		}
		for _, file := range profile.Files {
			row.Files = append(row.Files, profileFile{Link: file, Name: path.Base(file)})
		}
		rows = append(rows, row)
	}
	return rows
}
