// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/local/metrics"
)

// patience is how long anything may take on a machine that is busy with other
// tests.
const patience = 2 * time.Minute

// answer is what the API says.
type answer struct {
	Status, ErrorType, Error string
	Warnings                 []string
	Data                     json.RawMessage
}

// observed is a node that is scraped, and what is asked about it.
type observed struct {
	handler http.Handler
	// scrapes counts how often the node was asked.
	scrapes *atomic.Int64
}

// observe scrapes a node that exports a counter and a gauge of its own, and what
// its libraries count.
func observe(t *testing.T) observed {
	t.Helper()
	return observeNode(t, func(scrape int64) string {
		return fmt.Sprintf(`# TYPE shardnode_shard_transfers counter
shardnode_shard_transfers_total{network="net",region="east",node="a",shard="0"} %d
shardnode_shard_transfers_total{network="net",region="east",node="a",shard="1"} %d
# TYPE shardnode_height gauge
shardnode_height{network="net",region="east",node="a"} 7
# TYPE library_calls counter
library_calls_total 5
# EOF
`, 100*scrape, 50*scrape)
	})
}

// observeNode scrapes a node that exports something else at each scrape.
func observeNode(t *testing.T, exported func(scrape int64) string) observed {
	t.Helper()
	var scrapes atomic.Int64
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		_, _ = io.WriteString(w, exported(scrapes.Add(1)))
	}))
	t.Cleanup(node.Close)
	store, err := metrics.OpenStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	target := metrics.Target{Address: node.Listener.Addr().String(), Network: "net", Region: "east", Node: "a"}
	scraper, err := metrics.StartScraper(t.Context(), store, []metrics.Target{target}, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scraper.Stop)
	return observed{metrics.Handler(store), &scrapes}
}

// ask asks for a path with some parameters, each a name and a value.
func (o observed) ask(t *testing.T, method, path string, parameters ...string) (int, answer) {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		form.Add(parameters[i], parameters[i+1])
	}
	target, body := path+"?"+form.Encode(), io.Reader(http.NoBody)
	if method == http.MethodPost {
		target, body = path, strings.NewReader(form.Encode())
	}
	request := httptest.NewRequestWithContext(t.Context(), method, target, body)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	recorder := httptest.NewRecorder()
	o.handler.ServeHTTP(recorder, request)
	var said answer
	if err := json.Unmarshal(recorder.Body.Bytes(), &said); err != nil {
		t.Fatalf("%s %s answers %d, not in JSON: %s", method, target, recorder.Code, recorder.Body)
	}
	return recorder.Code, said
}

// awaits waits until a query has a result that contains some text.
func (o observed) awaits(t *testing.T, text, query string) {
	t.Helper()
	var last answer
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, last = o.ask(t, http.MethodGet, "/api/v1/query", "query", query); strings.Contains(string(last.Data), text) {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s has %s: %+v", query, text, last)
		}
	}
}

// A client takes what it is answered for a list.
func TestNoSeriesIsAnEmptyList(t *testing.T) {
	t.Parallel()
	node := observe(t)
	for _, query := range []string{
		"nothing", "sum(nothing)", "sum(sum by (shard) (rate(shardnode_shard_transfers_total[1m] offset 1d)))",
		"sum(quantile by (shard) (0.5, rate(shardnode_shard_transfers_total[1m] offset 1d)))",
	} {
		for path, want := range map[string]string{
			"/api/v1/query":       `{"resultType":"vector","result":[]}`,
			"/api/v1/query_range": `{"resultType":"matrix","result":[]}`,
		} {
			code, said := node.ask(t, http.MethodGet, path, "query", query, "start", "1000", "end", "1060", "time", "1000", "step", "1s")
			if code != http.StatusOK || string(said.Data) != want {
				t.Errorf("%s has the answer %d %s of %s, want %s", query, code, said.Data, path, want)
			}
		}
	}
}

func TestScrapedSeriesCanBeQueried(t *testing.T) {
	t.Parallel()
	node := observe(t)
	node.awaits(t, `"metric":{"__name__":"up","instance":"`, `up{job="shardnode",network="net",region="east",node="a"} == 1`)
	node.awaits(t, `"value":[`, `sum by (shard) (rate(shardnode_shard_transfers_total[30s])) > 0`)

	now := time.Now()
	code, said := node.ask(t, http.MethodPost, "/api/v1/query_range", "query", "shardnode_height", "step", "100ms",
		"start", now.Add(-time.Minute).Format(time.RFC3339Nano), "end", fmt.Sprintf("%.3f", float64(now.UnixMilli())/1000))
	if want := `{"resultType":"matrix","result":[{"metric":{"__name__":"shardnode_height",`; code != http.StatusOK ||
		said.Status != "success" || !strings.HasPrefix(string(said.Data), want) || !strings.Contains(string(said.Data), `"7"]`) {
		t.Errorf("a range has the answer %d %+v %s", code, said, said.Data)
	}
}

// A bucket leads to the traces of what is in it: each exemplar is there once, however
// often it is scraped.
func TestExemplarsAreListed(t *testing.T) {
	t.Parallel()
	began := time.Now().Unix() - 1000
	node := observeNode(t, func(scrape int64) string {
		// Every third scrape finds something new.
		height := scrape / 3
		return fmt.Sprintf(`# TYPE shardnode_execution_seconds histogram
# UNIT shardnode_execution_seconds seconds
shardnode_execution_seconds_sum{network="net",region="east",node="a"} %[1]d
shardnode_execution_seconds_count{network="net",region="east",node="a"} %[1]d
shardnode_execution_seconds_bucket{le="0.5",network="net",region="east",node="a"} %[1]d # {trace_id="%032[1]x",height="%[1]d"} 0.25 %[2]d
shardnode_execution_seconds_bucket{le="+Inf",network="net",region="east",node="a"} %[1]d
# EOF
`, height, began+height)
	})
	node.awaits(t, `"value":[`, `changes(shardnode_execution_seconds_count[5m]) >= 3`)

	const query = `histogram_quantile(0.99, sum by (le) (rate(shardnode_execution_seconds_bucket{network="net"}[1m])))`
	exemplars := node.exemplars(t, http.MethodGet, "query", query)
	if len(exemplars) < 4 {
		t.Fatalf("there are the exemplars %s", exemplars)
	}
	for i, found := range exemplars {
		var read struct {
			Labels struct {
				Height int64 `json:",string"`
			}
		}
		if err := json.Unmarshal(found, &read); err != nil {
			t.Fatal(err)
		}
		height := read.Labels.Height
		want := fmt.Sprintf(`{"labels":{"height":"%d","trace_id":"%032x"},"value":"0.25","timestamp":%d}`, height, height, began+height)
		if string(found) != want || slices.ContainsFunc(exemplars[:i], func(before json.RawMessage) bool { return string(before) == want }) {
			t.Errorf("exemplar %d of %s is not %s", i, exemplars, want)
		}
		at := strconv.FormatInt(began+height, 10)
		alone := node.exemplars(t, http.MethodPost, "query", query, "start", at, "end", at)
		if len(alone) != 1 || string(alone[0]) != want {
			t.Errorf("at %s, the exemplars are %s, want %s", at, alone, want)
		}
	}
	for name, parameters := range map[string][]string{
		"no series": {"query", "1"},
		"others":    {"query", `shardnode_execution_seconds_bucket{node="b"}`},
		"before":    {"query", query, "start", "1000", "end", "2000"},
	} {
		code, said := node.ask(t, http.MethodGet, "/api/v1/query_exemplars", parameters...)
		if code != http.StatusOK || string(said.Data) != "[]" {
			t.Errorf("%s has the answer %d %s, want an empty list", name, code, said.Data)
		}
	}
}

// exemplars are those of the one series that has any.
func (o observed) exemplars(t *testing.T, method string, parameters ...string) []json.RawMessage {
	t.Helper()
	code, said := o.ask(t, method, "/api/v1/query_exemplars", parameters...)
	var found []struct {
		SeriesLabels map[string]string
		Exemplars    []json.RawMessage
	}
	if err := json.Unmarshal(said.Data, &found); err != nil || code != http.StatusOK || len(found) != 1 {
		t.Fatalf("%v has the answer %d %s %q, want one series (%v)", parameters, code, said.Data, said.Error, err)
	}
	if of := found[0].SeriesLabels; of["le"] != "0.5" || of["node"] != "a" || of["__name__"] != "shardnode_execution_seconds_bucket" {
		t.Errorf("the exemplars are of %v", of)
	}
	return found[0].Exemplars
}

func TestNamesAreListed(t *testing.T) {
	t.Parallel()
	node := observe(t)
	node.awaits(t, `"value":[`, "shardnode_shard_transfers_total")
	for _, test := range []struct {
		path       string
		parameters []string
		want       string
		warnings   int
	}{
		{"/api/v1/labels", nil, `["__name__","instance","job","network","node","region","shard"]`, 0},
		{"/api/v1/label/shard/values", nil, `["0","1"]`, 0},
		{"/api/v1/label/shard/values", []string{"limit", "1"}, `["0"]`, 1},
		{"/api/v1/label/shard/values", []string{"match[]", "shardnode_height"}, `[]`, 0},
		{"/api/v1/label/shard/values", []string{"match[]", "shardnode_height", "match[]", `{shard="1"}`}, `["1"]`, 0},
		{"/api/v1/label/shard/values", []string{"start", "1000", "end", "2000"}, `[]`, 0},
		// What libraries count is not kept.
		{
			"/api/v1/label/__name__/values",
			[]string{"match[]", `{__name__=~"lib.*|shardnode_.*"}`},
			`["shardnode_height","shardnode_shard_transfers_total"]`, 0,
		},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			code, said := node.ask(t, method, test.path, test.parameters...)
			if code != http.StatusOK || string(said.Data) != test.want || len(said.Warnings) != test.warnings {
				t.Errorf("%s %s of %v answers %d %s %q %q, want %s", method, test.path, test.parameters,
					code, said.Data, said.Error, said.Warnings, test.want)
			}
		}
	}

	var series []map[string]string
	_, said := node.ask(t, http.MethodGet, "/api/v1/series", "match[]", "shardnode_height", "match[]", `{shard="1"}`)
	if err := json.Unmarshal(said.Data, &series); err != nil || len(series) != 2 || series[1]["shard"] != "1" {
		t.Errorf("the series are %s, want two (%v)", said.Data, err)
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	t.Parallel()
	node := observe(t)
	node.awaits(t, `"value":[`, "shardnode_height")
	for name, test := range map[string]struct {
		path       string
		parameters []string
		code       int
		kind, says string
	}{
		"no query":       {"query", nil, 400, "bad_data", `invalid parameter "query": `},
		"no PromQL":      {"query", []string{"query", "sum("}, 400, "bad_data", `invalid parameter "query": `},
		"no time":        {"query", []string{"query", "up", "time", "soon"}, 400, "bad_data", `invalid parameter "time": "soon" is no time`},
		"a time too far": {"query", []string{"query", "up", "time", "1e300"}, 400, "bad_data", `"1e300" is no time`},
		"no number":      {"query", []string{"query", "up", "time", "NaN"}, 400, "bad_data", `"NaN" is no time`},
		"cannot match":   {"query", []string{"query", "up + on () {shard=~\".+\"}"}, 422, "execution", "many-to-many"},
		"no start":       {"query_range", []string{"query", "up", "end", "1", "step", "1"}, 400, "bad_data", `invalid parameter "start"`},
		"backwards":      {"query_range", []string{"query", "up", "start", "2", "end", "1", "step", "1"}, 400, "bad_data", "before the start"},
		"no exemplars":   {"query_exemplars", []string{"query", "sum("}, 400, "bad_data", `invalid parameter "query": `},
		"over at once":   {"query_exemplars", []string{"query", "up", "start", "2", "end", "1"}, 400, "bad_data", "before the start"},
		"no step":        {"query_range", []string{"query", "up", "start", "0", "end", "1"}, 400, "bad_data", `invalid parameter "step"`},
		"standing still": {"query_range", []string{"query", "up", "start", "0", "end", "1", "step", "0"}, 400, "bad_data", "at least 1ms"},
		"too many values": {
			"query_range", []string{"query", "up", "start", "0", "end", "1000", "step", "50ms"}, 400, "bad_data", "more than 11000",
		},
		"no series chosen": {"series", nil, 400, "bad_data", "no match[] parameter provided"},
		"no selector":      {"series", []string{"match[]", "1"}, 400, "bad_data", `invalid parameter "match[]"`},
		"everything":       {"series", []string{"match[]", `{a=~".*"}`}, 400, "bad_data", "at least one"},
		"no label":         {"label/%ff/values", nil, 400, "bad_data", "invalid label name"},
		"a negative limit": {"labels", []string{"limit", "-1"}, 400, "bad_data", `invalid parameter "limit"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, said := node.ask(t, http.MethodGet, "/api/v1/"+test.path, test.parameters...)
			if code != test.code || said.Status != "error" || said.ErrorType != test.kind || !strings.Contains(said.Error, test.says) {
				t.Errorf("answers %d %+v, want %d %s %q", code, said, test.code, test.kind, test.says)
			}
		})
	}
	if code, said := node.ask(t, http.MethodPost, "/api/v1/query", "query", strings.Repeat("1+", 64<<10)+"1"); code != http.StatusBadRequest {
		t.Errorf("a query of 128 KiB is answered with %d %+v", code, said)
	}
}

// What was scraped is there after a restart.
func TestSamplesAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var scrapes atomic.Int64
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = fmt.Fprintf(w, "shardnode_height %d\n", scrapes.Add(1))
	}))
	defer node.Close()
	store, err := metrics.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	target := metrics.Target{Address: node.Listener.Addr().String(), Network: "net", Region: "east", Node: "a"}
	scraper, err := metrics.StartScraper(t.Context(), store, []metrics.Target{target}, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	observed{handler: metrics.Handler(store)}.awaits(t, `"value":[`, "shardnode_height")
	scraper.Stop()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	if store, err = metrics.OpenStore(dir); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	observed{handler: metrics.Handler(store)}.awaits(t, `"value":[`, "last_over_time(shardnode_height[10m])")
}
