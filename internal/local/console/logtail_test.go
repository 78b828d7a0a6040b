// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLogTail(t *testing.T) {
	t.Parallel()
	var long []string
	for i := range 5000 {
		long = append(long, fmt.Sprintf("line %d of a log that is much longer than what is read", i))
	}
	cases := map[string]struct {
		content string
		want    []string
	}{
		"empty":         {"", nil},
		"few lines":     {"one\ntwo\n", []string{"one", "two"}},
		"no line break": {"one\ntwo", []string{"one", "two"}},
		"many lines":    {strings.Join(long, "\n") + "\n", long[len(long)-tailLines:]},
		"one long line": {strings.Repeat("x", 2*tailBytes) + "\nlast\n", []string{"last"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "node.log")
			if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Tail(path)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("the tail is %q (%v), want %q", got, err, test.want)
			}
		})
	}
}
