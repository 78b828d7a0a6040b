// SPDX-License-Identifier: Apache-2.0

package reporting_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shardyard/shardyard/controllers/reporting"
)

func TestNote(t *testing.T) {
	t.Parallel()
	// The API server counts bytes, and takes no half of a letter.
	for _, words := range []string{strings.Repeat("a", 2000), strings.Repeat("é", 2000), strings.Repeat("…", 2000)} {
		note := reporting.Note(words)
		if len(note) > 1024 || len(note) < 1020 || !utf8.ValidString(note) || !strings.HasSuffix(note, "…") {
			t.Errorf("the note has %d bytes: %q", len(note), note)
		}
	}
	for _, words := range []string{"", "it runs", strings.Repeat("a", 1024)} {
		if got := reporting.Note(words); got != words {
			t.Errorf("words that fit are cut: %q", got)
		}
	}
}
