// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
)

const (
	// MaxBytes is the longest termination message that a cluster keeps.
	MaxBytes = 4096

	maxFaultBytes = 1000
	// maxWordsBytes leaves room for all figures.
	maxWordsBytes    = 1600
	maxSentenceBytes = 600
)

// Run is what a recorded run came to.
type Run struct {
	// Fault is why it does not count; empty if it does.
	Fault  string        `json:"fault,omitempty"`
	Window result.Window `json:"window"`
	// ExecutedPerSecond is TPS; nil when it is not known.
	ExecutedPerSecond *float64 `json:"executedPerSecond,omitempty"`
}

// Result is what a benchmark came to.
type Result struct {
	Outcome result.Outcome `json:"outcome"`
	// Words are those of the verdict, as many as fit.
	Words []string `json:"words"`
	// Figures are those of the variant that the verdict is about.
	Figures []Figure `json:"figures"`
}

// Figure is one figure.
type Figure struct {
	Name  v1alpha1.BenchmarkFigure `json:"name"`
	Value float64                  `json:"value"`
}

// Upload is where a result was put.
type Upload struct {
	// URL is a place in a bucket, without credentials.
	URL string `json:"url"`
}

// OfRun sums up a recorded run.
func OfRun(run *result.Run) Run {
	made := Run{Fault: cut(run.Fault, maxFaultBytes), Window: run.Window}
	// The confidence is that of an interval that nobody asks for.
	for _, figure := range figures.Of([]*result.Run{run}, 95, 1) {
		if figure.Name == v1alpha1.FigureExecutedPerSecond {
			made.ExecutedPerSecond = &figure.Value
		}
	}
	return made
}

// OfResult sums up a result.
func OfResult(from *result.Result) Result {
	made := Result{Outcome: from.Verdict.Outcome, Words: words(from.Verdict.Words)}
	for _, figure := range from.Candidate().Figures {
		made.Figures = append(made.Figures, Figure{Name: figure.Name, Value: figure.Value})
	}
	return made
}

// words are the first of many sentences, and how many there are besides.
func words(all []string) []string {
	var kept []string
	room := maxWordsBytes
	for i, sentence := range all {
		sentence = cut(sentence, maxSentenceBytes)
		if room -= len(sentence); room < 0 {
			return append(kept, fmt.Sprintf("and %d more: see the result", len(all)-i))
		}
		kept = append(kept, sentence)
	}
	return kept
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Encode writes a summary as a termination message.
func Encode[Summary Run | Result | Upload](summary Summary) (string, error) {
	content, err := json.Marshal(summary)
	if err != nil {
		return "", fmt.Errorf("encode summary: %w", err)
	}
	if len(content) > MaxBytes {
		return "", fmt.Errorf("the summary has %d bytes, and may have %d", len(content), MaxBytes)
	}
	return string(content), nil
}

// Decode reads a termination message.
func Decode[Summary Run | Result | Upload](message string) (*Summary, error) {
	decoder := json.NewDecoder(strings.NewReader(message))
	decoder.DisallowUnknownFields()
	var summary Summary
	if err := decoder.Decode(&summary); err != nil {
		return nil, fmt.Errorf("decode summary: %w", err)
	}
	return &summary, nil
}
