// SPDX-License-Identifier: Apache-2.0

package reporting

import (
	"strings"
)

// maxNoteBytes is the longest note of an event that the API server takes.
const maxNoteBytes = 1024

// Note is words as the note of an event, as far as they fit.
func Note(words string) string {
	if len(words) <= maxNoteBytes {
		return words
	}
	return strings.ToValidUTF8(words[:maxNoteBytes-len("…")], "") + "…"
}
