// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/local/page"
	"github.com/shardyard/shardyard/test/waiting"
)

// onAnyPort has a page served where there is room.
var onAnyPort = page.Options{Address: "127.0.0.1:0", ScrapeInterval: 200 * time.Millisecond}

// fetch asks an address, as whoever takes it for this host.
func fetch(t *testing.T, address, host string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// awaitAnswer waits until an address answers with a text, and with no error before.
func awaitAnswer(t *testing.T, address, want string) {
	t.Helper()
	waiting.Until(t, "GET "+address+" answers "+want, func() bool {
		code, body := fetch(t, address, "")
		if code != http.StatusOK {
			t.Fatalf("GET %s answers %d %s", address, code, body)
		}
		return strings.Contains(body, want)
	})
}

func TestUpServesThePage(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{Page: onAnyPort}, nil)
	run.says(t, "TPS ")
	page := run.processes(t).Page
	if !strings.HasPrefix(page, "http://127.0.0.1:") || !strings.Contains(run.progress.String(), "page "+page+"\n") {
		t.Fatalf("the page is at %q, and the progress says\n%s", page, &run.progress)
	}
	for path, want := range map[string]string{
		"/":                        `<script type="module" src="page.js">`,
		"/page.js":                 "createRoot",
		"/dashboards/network.json": `"uid": "shardyard-network"`,
	} {
		if code, body := fetch(t, page+path, ""); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("GET %s answers %d and %d bytes without %s", path, code, len(body), want)
		}
	}
	for path, want := range map[string]string{
		"/chain/blocks?from=3": `[{"height":3,"hash":"block 3"`,
		"/chain/blocks/3":      `"stateRoot":"root of 1 after 2"`,
	} {
		if code, body := fetch(t, page+path, ""); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("GET %s answers %d %s, want %s", path, code, body, want)
		}
	}
	// Nodes that are late once, on a busy machine, are told of as such.
	awaitAnswer(t, page+"/network", `"shard":1,"condition":"Live","says":"at block `)
	awaitAnswer(t, page+"/standing", `"role":"producer","answers":true,"blocksBehind":0,"executing":null,`)
	if code, body := fetch(t, page+"/chain/blocks?from=-1", ""); code != http.StatusBadRequest || body != "invalid from \"-1\"\n" {
		t.Errorf("a height below 0 is answered with %d %s", code, body)
	}
	// Stand-ins export no metrics, but that they were asked is known.
	waiting.Until(t, "all nodes were scraped", func() bool {
		_, body := fetch(t, page+"/api/v1/query?query=count(up%7Bnetwork=%22net%22,region=%22local%22%7D)", "")
		return strings.Contains(body, `"4"]`)
	})
	if code, body := fetch(t, page+"/", "example.org"); code != http.StatusForbidden {
		t.Errorf("a page of another site is told %d %s", code, body)
	}
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Fatal(err)
	}
	if request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, http.NoBody); err != nil {
		t.Fatal(err)
	} else if response, err := http.DefaultClient.Do(request); err == nil {
		_ = response.Body.Close()
		t.Error("the page is served after the end of the run")
	}
}

// Who looks at the page finds the one that hangs.
func TestPageTellsWhoHangs(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{Page: onAnyPort}, nil)
	run.says(t, "TPS ")
	processes := run.processes(t)
	told := func(name, as, says string) {
		t.Helper()
		waiting.Until(t, "the page tells that "+name+" "+says, func() bool {
			_, body := fetch(t, processes.Page+"/network", "")
			type validator struct{ Name, Condition, Says string }
			var shown struct{ Validators []validator }
			if err := json.Unmarshal([]byte(body), &shown); err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(shown.Validators, func(one validator) bool {
				return one.Name == name && one.Condition == as && strings.HasPrefix(one.Says, says)
			})
		})
	}
	hung := processes.Validators[1]
	told(hung.Name, "Live", "at block ")
	if err := syscall.Kill(hung.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	told(hung.Name, "NotReady", "does not answer")
	waiting.Until(t, "whoever hangs stands out", func() bool {
		_, body := fetch(t, processes.Page+"/standing", "")
		return strings.Contains(body, `"name":"`+hung.Name+`"`) && strings.Count(body, `"says":"no answer"`) == 1
	})
	if err := syscall.Kill(hung.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	told(hung.Name, "Live", "at block ")
}

// What was measured is not worth a network that does not run.
func TestUpRunsWithoutItsMetrics(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	run := startUp(t, stateDir, Options{}, nil)
	run.says(t, "TPS ")
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(run.dir.Metrics(), []byte("no folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	run = startUp(t, stateDir, Options{Page: onAnyPort}, nil)
	run.says(t, "there is no page: open the metrics of "+run.dir.Metrics())
	run.says(t, "TPS ")
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Fatal(err)
	}
}

// No validator is started for a network that cannot be seen where it was to be.
func TestUpWithoutTheAddressOfItsPage(t *testing.T) {
	t.Parallel()
	first, err := page.Listen(t.Context(), onAnyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	taken := strings.TrimPrefix(first.URL(), "http://")
	run := startUp(t, t.TempDir(), Options{Page: page.Options{Address: taken}}, nil)
	if _, err := run.end(t); err == nil || !strings.HasPrefix(err.Error(), "serve the page: listen tcp "+taken+": ") {
		t.Errorf("a taken address has the error %v", err)
	}
	if strings.Contains(run.progress.String(), "starting") {
		t.Errorf("validators were started all the same:\n%s", &run.progress)
	}
}
