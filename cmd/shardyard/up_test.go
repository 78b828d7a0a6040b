// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/test/scripts"
)

// program makes a file that counts as a program.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shardnode")
	scripts.Write(t, path, "#!/bin/sh\nexit 2\n")
	return path
}

func TestUpOptions(t *testing.T) {
	t.Parallel()
	shardnode := program(t)
	cases := map[string]struct {
		args []string
		want string
	}{
		"format": {[]string{"-o", "xml"}, `error: unknown output format "xml": want text or json`},
		"more heights than there are": {
			[]string{"--trace-basis-points", "10001"}, "error: --trace-basis-points must be from 1 to 10000, is 10001",
		},
		"no heights": {
			[]string{"--trace-basis-points", "0"},
			"error: --trace-basis-points must be from 1 to 10000, is 0: without it, heights are traced as the manifest says",
		},
		"no time":  {[]string{"--ready-timeout", "0s"}, "error: --ready-timeout must be positive, is 0s"},
		"negative": {[]string{"--for", "-1s"}, "error: --for must be at least 1s, is -1s"},
		"too short": {
			[]string{"--for", "10ms"}, "error: --for must be at least 1s, is 10ms",
		},
		"no page": {
			[]string{"--page", "no"}, `error: --page must be auto, off or HOST:PORT, is "no"`,
		},
		"scraped too often": {
			[]string{"--scrape-interval", "1ms"}, "error: --scrape-interval must be from 200ms to 1m0s, is 1ms",
		},
		"no program": {
			[]string{"--shardnode", "/no/such/program"},
			`error: find the node program: exec: "/no/such/program": stat /no/such/program: no such file or directory`,
		},
		"invalid manifest": {
			[]string{"--shardnode", shardnode, "-f", changed(t, "nodes: 4", "nodes: 3")},
			"spec.regions: Invalid value: the regions have 3 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 4",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"up", "-f", quickstart, "--state-dir", t.TempDir()}, test.args...)
			if got := shardyardFails(t, args...); len(got) != 1 || got[0] != test.want {
				t.Errorf("prints %q, want %q", got, test.want)
			}
		})
	}
}

// With JSON, nothing but the summary goes to standard output, not even when
// there is none.
func TestUpFailsWithJSON(t *testing.T) {
	t.Parallel()
	lines := shardyardFails(t, "up", "-f", quickstart, "-o", "json", "--state-dir", t.TempDir(), "--shardnode", program(t))
	if got, want := lines[len(lines)-1], "error: validator quickstart-s"; !strings.HasPrefix(got, want) {
		t.Errorf("the last line is %q, want it to begin with %q", got, want)
	}
}

func TestExplainResume(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	refused := &statedir.ResumeError{Dir: "/state/net", Err: &manifest.InvalidError{}}
	if err := explainResume(&stderr, refused); !errors.Is(err, refused) {
		t.Errorf("the error is %v, want %v", err, refused)
	}
	if want := "the network of /state/net cannot become what the manifest says; --fresh starts over\n"; stderr.String() != want {
		t.Errorf("the explanation is %q, want %q", &stderr, want)
	}

	stderr.Reset()
	damaged := &statedir.ResumeError{Dir: "/state/net", Err: os.ErrNotExist}
	want := "resume the network of /state/net: file does not exist; --fresh starts over"
	if err := explainResume(&stderr, damaged); err == nil || err.Error() != want || stderr.Len() > 0 {
		t.Errorf("the error is %v and the explanation %q, want only %q", err, &stderr, want)
	}

	other := errors.New("other")
	if err := explainResume(&stderr, other); !errors.Is(err, other) || stderr.Len() > 0 {
		t.Errorf("the error is %v and the explanation %q, want only %v", err, &stderr, other)
	}
}
