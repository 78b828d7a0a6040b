// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// accountRow is what became of the transfers of a run.
type accountRow struct {
	Run, Seconds string
	*result.Accounting
}

func accountRows(runs []labelled) []accountRow {
	var rows []accountRow
	for _, labelled := range runs {
		if accounting := labelled.run.Accounting; accounting != nil {
			rows = append(rows, accountRow{
				Run: labelled.label, Seconds: fmt.Sprintf("%.0f", secondsOf(labelled.run, accounting.TimeMs)),
				Accounting: accounting,
			})
		}
	}
	return rows
}
