// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// maxQuoteBytes bounds what a message repeats of somebody else's words.
	maxQuoteBytes = 600

	// maxStatusBytes bounds words that a status repeats.
	maxStatusBytes = 1000

	// maxNames is how many shards or nodes a message lists.
	maxNames = 8
)

// lastWords is the last line of a log, without the form of a log line.
func lastWords(message string) string {
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

// quote makes somebody else's words fit into a sentence.
func quote(words string) string {
	words = strings.Join(strings.Fields(words), " ")
	words = strings.TrimRight(words, ".")
	if len(words) > maxQuoteBytes {
		words = strings.ToValidUTF8(words[:maxQuoteBytes], "") + "…"
	}
	return words
}

// shorten makes words fit into a status.
func shorten(words string) string {
	if len(words) <= maxStatusBytes {
		return words
	}
	return strings.ToValidUTF8(words[:maxStatusBytes], "") + "…"
}

// list names some and counts the rest.
func list(names []string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}

// count is a number of things, whose plural ends in s.
func count(number int, thing string) string {
	if number == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", number, thing)
}
