// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

const (
	// maxQuoteBytes bounds what a message repeats of somebody else's words.
	maxQuoteBytes = 600

	// maxStatusBytes bounds words that a status repeats.
	maxStatusBytes = 1000

	// maxNames is how many shards or nodes a message lists.
	maxNames = 8
)

// LastWords is the last line of a log, without the form of a log line.
func LastWords(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	var line struct {
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(last), &line) != nil || line.Message == "" {
		return last
	}
	return line.Message
}

// Quote makes somebody else's words fit into a sentence.
func Quote(words string) string {
	words = strings.Join(strings.Fields(words), " ")
	words = strings.TrimRight(words, ".")
	if len(words) > maxQuoteBytes {
		words = strings.ToValidUTF8(words[:maxQuoteBytes], "") + "…"
	}
	return words
}

// Shorten makes words fit into a status.
func Shorten(words string) string {
	if len(words) <= maxStatusBytes {
		return words
	}
	return strings.ToValidUTF8(words[:maxStatusBytes], "") + "…"
}

// List names some and counts the rest.
func List(names []string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}

// Count is a number of things, whose plural ends in s.
func Count(number int, thing string) string {
	if number == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", number, thing)
}

// Instant is a time as sentences name it.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
