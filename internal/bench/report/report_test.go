// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/report"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// made is a result of two variants, each with one run of 10 s.
func made(name string, began time.Time) *result.Result {
	made := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Benchmark:     v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: name}},
		Repeat:        []string{"shardyard", "bench", "run"},
		StartedAt:     began,
		EndedAt:       began.Add(time.Minute),
		Environment:   result.Environment{OS: "linux", CPUs: 2, CPUModel: `Model "<X>"`},
		NotApplied:    []string{"spec.volume does not apply here"},
		Variants:      []result.Variant{{Name: "a"}, {Name: "b"}},
		Comparison: &result.Comparison{
			Baseline: "a", Candidate: "b", Changes: []result.Change{{
				Figure: v1alpha1.FigureCPUCores, Percent: ptr.To(3.0), Interval: &result.Interval{Low: 2, High: 4, ConfidencePercent: 95},
				Outcome: result.ChangeWorse, Words: "CPU is worse",
			}}, Phases: []result.Phase{{Name: "making witnesses", BaselineMicroseconds: 20, CandidateMicroseconds: 25}},
			Notes: []string{"think twice"},
		},
		Verdict: result.Verdict{Outcome: result.Regressed, Words: []string{"CPU is worse </script>"}},
	}
	for _, variant := range []string{"a", "b"} {
		run := result.Run{
			Variant: variant, Repetition: 1, LoadBeganMs: 500, Window: result.Window{BeginMs: 2500, EndMs: 9500},
			Notes: []string{"of " + variant},
			Nodes: []result.Node{{
				Name: "n-s0-p0", Role: "producer", CPUSeconds: ptr.To(1.25), NetworkSentBytes: ptr.To[uint64](3 << 20),
				NetworkReceivedBytes: ptr.To[uint64](5 << 19), ChecksEndorsed: ptr.To[uint64](4711), ChecksRefused: ptr.To[uint64](0),
			}},
			Accounting: &result.Accounting{
				TimeMs: 9500, Signed: 1200, Executed: 900, Failed: 2, Refused: 3, Waiting: 40, Executing: 50, Rest: 205, InFlight: 101,
			},
			Counts: &result.Counts{Counters: []result.Counter{
				{Metric: "shardnode_pool_rejected_total", Kind: "of " + variant, Count: 7531},
			}},
		}
		for i := range uint64(21) {
			block := result.Block{Height: i, TimestampMs: int64(i) * 500, Included: 50, Executed: 50, Failed: ptr.To[uint64](0), Shards: 2}
			if i == 0 {
				block.Failed = nil
			}
			run.Blocks = append(run.Blocks, block)
			run.Samples = append(run.Samples, result.Sample{
				TimeMs: int64(i) * 500, OfferedPerSecond: 100, CPUSeconds: ptr.To(float64(i) / 4),
				CPUSecondsByRole: map[string]float64{"producer": float64(i) / 5, "rpc": float64(i) / 20},
				Failures: &result.Failures{
					Failed: map[string]uint64{"balance": 2 * i, "nonce": max(10, i)}, Refused: map[string]uint64{"full": 3 * i, "shard": i},
				},
				// Eight in a second, of 2.5 ms each, and none in the first half of one.
				HostDiskFlushes: ptr.To(4 * max(1, i)), HostDiskFlushSeconds: ptr.To(float64(max(1, i)) / 100),
			})
		}
		made.Runs = append(made.Runs, run)
	}
	for i := range made.Variants {
		made.Variants[i].Figures = figures.Of(made.RunsOf(made.Variants[i].Name), 95, 1)
	}
	return made
}

var began = time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)

func page(t *testing.T) string {
	t.Helper()
	return pageOf(t, made("net", began))
}

func pageOf(t *testing.T, made *result.Result) string {
	t.Helper()
	var content bytes.Buffer
	if err := report.Write(&content, made); err != nil {
		t.Fatal(err)
	}
	return content.String()
}

func TestPageSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	content := page(t)
	for _, want := range []string{
		`<span class="outcome Regressed">Regressed</span>`, "CPU is worse &lt;/script&gt;", "think twice", "a 1: of a",
		`<th class="number">a</th><th class="number">b</th>`, "2 Model &#34;&lt;X&gt;&#34;", "spec.volume does not apply here",
		`<td>making witnesses</td><td class="number">20.0</td><td class="number">25.0</td><td class="number">&#43;25.00%</td>`,
		`<td>shardnode_pool_rejected_total</td><td>of a</td><td class="number">7531</td><td class="number"></td>`,
		`<td class="number">3.0</td><td class="number">2.5</td><td class="number">4711</td><td class="number">0</td></tr>`,
		`<td>a 1</td><td class="number">9</td><td class="number">1200</td><td class="number">900</td><td class="number">2</td>` +
			`<td class="number">3</td><td class="number">40</td><td class="number">50</td><td class="number">205</td>` +
			`<td class="number">101</td><td class="number">104</td></tr>`,
		"n-s0-p0", "1.25", "shardyard bench run", "[&#43;2.00 to &#43;4.00]",
	} {
		if !strings.Contains(content, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
}

// Whoever opens the page asks nobody for anything.
func TestPageOpensByItself(t *testing.T) {
	t.Parallel()
	content := page(t)
	if !strings.Contains(content, `content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"`) {
		t.Error("the page may load something")
	}
	for _, loading := range []string{`<link`, `src="`, `href="http`, `@import`, `url(`} {
		if strings.Contains(content, loading) {
			t.Errorf("the page loads something: it has %s", loading)
		}
	}
	if !strings.Contains(content, "prefers-color-scheme: dark") {
		t.Error("the page is not made for dark screens")
	}
}

var dataPattern = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

// panels are what the page draws, by name.
func panels(t *testing.T) map[string]report.Panel {
	t.Helper()
	return panelsOf(t, page(t))
}

func panelsOf(t *testing.T, content string) map[string]report.Panel {
	t.Helper()
	found := dataPattern.FindStringSubmatch(content)
	if found == nil {
		t.Fatal("the page has no data")
	}
	var data report.Data
	if err := json.Unmarshal([]byte(found[1]), &data); err != nil {
		t.Fatal(err)
	}
	panels := map[string]report.Panel{}
	for _, panel := range data.Panels {
		panels[panel.ID] = panel
	}
	return panels
}

// Machines of a cluster are those of all runs, or said of each.
func TestMachines(t *testing.T) {
	t.Parallel()
	shown := made("net", began)
	kind := func(count int) []result.Machines {
		return []result.Machines{{Count: count, Type: "c4", CPUs: 16, MemoryBytes: 4 << 30, OS: "linux", Kernel: "6.1", System: "COS"}}
	}
	shown.Runs[0].Machines, shown.Runs[1].Machines = kind(3), kind(3)
	const same = "<tr><th>machines</th><td>3 of c4, 16 processors, 4096 MiB, linux 6.1, COS</td></tr>"
	if content := pageOf(t, shown); !strings.Contains(content, same) {
		t.Errorf("the page does not say %q", same)
	}
	shown.Runs[1].Machines = kind(2)
	for _, want := range []string{"<th>machines, a 1</th><td>3 of c4", "<th>machines, b 1</th><td>2 of c4"} {
		if content := pageOf(t, shown); !strings.Contains(content, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestEveryPanelHasData(t *testing.T) {
	t.Parallel()
	drawn := panels(t)
	for id, panel := range drawn {
		if panel.Unit == "" || panel.Title == "" || len(panel.Series) < 2 {
			t.Errorf("panel %s is %+v", id, panel)
		}
		for _, series := range panel.Series {
			if len(series.X) == 0 || len(series.X) != len(series.Y) {
				t.Errorf("panel %s: %s has %d times and %d values", id, series.Label, len(series.X), len(series.Y))
			}
		}
	}
	// Nobody told of memory, so there is no chart of it that shows nothing.
	for _, id := range []string{"memory", "disk", "stolen", "accepted", "pool"} {
		if panel, shown := drawn[id]; shown {
			t.Errorf("the page has the panel %+v, of which nothing is known", panel)
		}
	}
}

// Each run has a stack of the reasons for which transfers failed, if any did.
func TestFailures(t *testing.T) {
	t.Parallel()
	shown := made("net", began)
	for i := range shown.Runs[0].Samples {
		shown.Runs[0].Samples[i].Failures.Refused = nil
	}
	drawn := panelsOf(t, pageOf(t, shown))
	if panel, ok := drawn["refused-reasons-0"]; ok {
		t.Errorf("nothing was refused, and there is the panel %+v", panel)
	}
	for id, title := range map[string]string{
		"failed-reasons-0": "Failed, by reason, a 1", "failed-reasons-1": "Failed, by reason, b 1",
		"refused-reasons-1": "Refused by pools, or expired in them, by reason, b 1",
	} {
		if panel := drawn[id]; !panel.Stacked || panel.Title != title || len(panel.Series) != 2 ||
			!slices.Equal(panel.Series[0].X, panel.Series[1].X) {
			t.Errorf("the panel %s is %+v, want a stack of two reasons: %s", id, panel, title)
		}
	}
	nonce := drawn["failed-reasons-0"].Series[1]
	if nonce.Label != "nonce" || len(nonce.Y) != 20 || nonce.Y[9] != 0 || nonce.Y[10] != 2 {
		t.Errorf("the line is %+v, want two a second of the reason nonce from the 11th point on", nonce)
	}
}

// Each run has a line for each of its roles, and a network of one role has none.
func TestCPUOfRoles(t *testing.T) {
	t.Parallel()
	panel := panels(t)["cpu-roles"]
	var labels []string
	for _, line := range panel.Series {
		labels = append(labels, line.Label)
		want := 0.4
		if strings.HasSuffix(line.Label, "rpc") {
			want = 0.1
		}
		if line.Y[0] != want || len(line.Y) != 20 {
			t.Errorf("%s has %d points, the first %v, want 20 of %v", line.Label, len(line.Y), line.Y[0], want)
		}
	}
	if want := []string{"a 1, producer", "a 1, rpc", "b 1, producer", "b 1, rpc"}; !slices.Equal(labels, want) {
		t.Errorf("the lines are %q, want %q", labels, want)
	}
	alone := made("net", began)
	for i := range alone.Runs {
		for j := range alone.Runs[i].Samples {
			delete(alone.Runs[i].Samples[j].CPUSecondsByRole, "rpc")
		}
	}
	if panel, shown := panelsOf(t, pageOf(t, alone))["cpu-roles"]; shown {
		t.Errorf("a network of one role has the panel %+v", panel)
	}
}

// Beside the block time is how long disks take to make something durable.
func TestFlushes(t *testing.T) {
	t.Parallel()
	drawn := panels(t)
	if got := drawn["flush-time"].Series[0]; len(got.Y) != 19 || got.X[0] != 0.5 || got.Y[0] != 2.5 {
		t.Errorf("a flush takes %+v, want 2.5 ms in each half of a second but the first", got)
	}
	if got := drawn["flushes"].Series[0]; len(got.Y) != 20 || got.Y[0] != 0 || got.Y[1] != 8 {
		t.Errorf("the flushes are %+v, want 8 in a second, and none in the first half of one", got)
	}
	content := page(t)
	if at := strings.Index(content, `data-panel="block-time"`); !strings.Contains(content[at+1:], `data-panel="flush-time"`) ||
		strings.Count(content[at:strings.Index(content, `data-panel="flush-time"`)], "data-panel") != 1 {
		t.Error("the panel of flushes is not beside that of the block time")
	}
}

func TestPanels(t *testing.T) {
	t.Parallel()
	drawn := panels(t)
	executed := drawn["executed"]
	if got := executed.Series[0]; got.Label != "a 1" || got.Y[0] != 100 || len(got.X) != 10 {
		t.Errorf("what was executed is %+v, want 100 in each of 10 seconds", got)
	}
	if got := executed.Series[2]; got.Label != "offered" || !got.Dash || got.Y[0] != 100 {
		t.Errorf("what was offered is %+v", got)
	}
	if len(executed.Series) != 3 || !slices.Equal(executed.Window, []float64{2, 9}) {
		t.Errorf("the panel is %+v, want both runs, what was offered, and the measured seconds from 2 to 9", executed)
	}
	if got := drawn["cpu"].Series[1]; got.Label != "b 1" || got.Y[0] != 0.5 || got.Color != 1 {
		t.Errorf("the CPU is %+v, want half a core in the second colour", got)
	}
	if got := len(drawn["failed"].Series[0].X); got != 9 {
		t.Errorf("what failed is shown for %d seconds, want 9: nothing is known of the first block", got)
	}
}

// A fixed count is offered at no rate, and none is drawn.
func TestFixedCountsAreShown(t *testing.T) {
	t.Parallel()
	counted := made("net", began)
	for i := range counted.Runs {
		counted.Runs[i].FixedCount = &result.FixedCount{Transfers: 1000, Executed: 1000, LastHeight: 20}
	}
	if series := panelsOf(t, pageOf(t, counted))["executed"].Series; len(series) != 2 {
		t.Errorf("the lines are %+v, want what was executed in both runs alone", series)
	}
}

// The bounds of a search are drawn from when they are known to the end, and its
// steps are listed.
func TestSearchIsShown(t *testing.T) {
	t.Parallel()
	searched := made("net", began)
	searched.Runs[0].Search = &result.Search{HeldPerSecond: 100, Steps: []result.SearchStep{
		{TransfersPerSecond: 100, BeganMs: 500, EndedMs: 2500, ExecutedPerSecond: 99, Holds: true, Words: "99.0% of it is executed"},
		{TransfersPerSecond: 200, BeganMs: 2500, EndedMs: 4500, ExecutedPerSecond: 120, Words: "60.0% of it is executed"},
		{TransfersPerSecond: 150, BeganMs: 5500, EndedMs: 7500, ExecutedPerSecond: 120, Words: "80.0% of it is executed"},
	}}
	searched.Runs[0].Samples[3].Control = &result.Control{State: "Trying"}
	var content bytes.Buffer
	if err := report.Write(&content, searched); err != nil {
		t.Fatal(err)
	}
	drawn := panelsOf(t, content.String())
	if panel, shown := drawn["control"]; shown {
		t.Errorf("the error that a search does not follow is drawn: %+v", panel)
	}
	holds := report.Series{Label: "a 1", X: []float64{2, 9.5}, Y: []float64{100, 100}}
	fails := report.Series{Label: "a 1, does not hold", Dash: true, X: []float64{4, 7, 9.5}, Y: []float64{200, 150, 150}}
	if got := drawn["search"].Series; !reflect.DeepEqual(got, []report.Series{holds, fails}) {
		t.Errorf("the bounds of the search are %+v, want %+v and %+v", got, holds, fails)
	}
	for _, want := range []string{"Rates that were tried", "5 to 7", "does not hold", "80.0% of it is executed"} {
		if !strings.Contains(content.String(), want) {
			t.Errorf("the page does not say %s", want)
		}
	}
}

// withUsers is a result whose first run is of users: of none fails anything but of the
// most.
func withUsers() *result.Result {
	made := made("net", began)
	made.Runs[0].OpenLoop = &result.OpenLoop{EveryMilliseconds: 5000, KneeUsers: 500, Steps: []result.OpenLoopStep{
		{
			Users: 1000, OfferedPerSecond: 200, AcceptedPerSecond: 120, ToldPerSecond: 79, ExecutedPerSecond: ptr.To(80.0),
			ExecutedInBlocks: ptr.To[uint64](402), ExecutedMs: result.Latency{Count: 400, P50: 700, P99: 1900},
			Transfers: result.ClientTransfers{
				Offered: 1000, Sent: 1000, Accepted: 600, Executed: 400, Refused: map[string]uint64{"full": 400}, Expired: 200,
				NoAnswer: map[string]uint64{"timeout": 3},
			},
			Saturation: result.Saturation{Saturated: true},
		},
		{
			Users: 500, OfferedPerSecond: 100, AcceptedPerSecond: 100, ToldPerSecond: 100, ExecutedPerSecond: ptr.To(99.0),
			ExecutedMs: result.Latency{Count: 500, P50: 600, P99: 900},
			Transfers:  result.ClientTransfers{Offered: 500, Sent: 500, Accepted: 500, Executed: 500},
		},
	}}
	return made
}

// What clients saw is drawn by users, the fewest first, and listed, and has a place
// of its own on the page.
func TestUsersAreShown(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	if err := report.Write(&content, withUsers()); err != nil {
		t.Fatal(err)
	}
	page := content.String()
	drawn := panelsOf(t, page)
	users := []float64{500, 1000}
	for id, want := range map[string][]report.Series{
		"users": {
			{Label: "a 1, offered", Dash: true, X: users, Y: []float64{100, 200}},
			{Label: "a 1, accepted", Color: 1, X: users, Y: []float64{100, 120}},
			{Label: "a 1, executed", Color: 2, X: users, Y: []float64{99, 80}},
		},
		"user-failures": {
			{Label: "a 1, refused (full)", X: users, Y: []float64{0, 40}},
			{Label: "a 1, expired", Color: 1, X: users, Y: []float64{0, 20}},
		},
		"user-latency": {
			{Label: "a 1, median", X: users, Y: []float64{600, 700}},
			{Label: "a 1, 99th percentile", Color: 1, X: users, Y: []float64{900, 1900}},
		},
	} {
		if got := drawn[id]; !reflect.DeepEqual(got.Series, want) || got.Axis != "users" || got.Window != nil {
			t.Errorf("the panel %s is %+v, want %+v", id, got, want)
		}
		if got := strings.Count(page, `data-panel="`+id+`"`); got != 1 {
			t.Errorf("the panel %s has %d places on the page", id, got)
		}
	}
	for _, want := range []string{
		"By users", "Users that were tried", "refused (full) 400, expired 200", "<td>timeout 3</td>", "<td>THE LIMIT</td>", "<td>in time</td>",
		"<td>400 told, 402 in blocks</td>", "<td>500 told</td>", "does not hold",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
	if by, over := strings.Index(page, `data-panel="users"`), strings.Index(page, "<h2>Over time</h2>"); by > over {
		t.Error("what is by users is shown as if it were over time")
	}

	var text bytes.Buffer
	if err := report.WriteText(&text, withUsers()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"RUN USERS OFFERED/S ACCEPTED/S EXECUTED/S SUCCESS % P50 MS P99 MS OUTCOME LOADER NOT EXECUTED",
		"a 1 500 100.0 100.0 99.0 100.0 600.0 900.0 holds in time -",
		"a 1 1000 200.0 120.0 80.0 40.0 700.0 1900.0 does not hold THE LIMIT refused (full) 400, expired 200",
	} {
		if !slices.ContainsFunc(strings.Split(text.String(), "\n"), func(line string) bool {
			return strings.Join(strings.Fields(line), " ") == want
		}) {
			t.Errorf("the text does not say %q:\n%s", want, &text)
		}
	}
}

// Where there are no users, nothing is said of any.
func TestNoUsers(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := report.WriteText(&text, made("net", began)); err != nil {
		t.Fatal(err)
	}
	if content := page(t); strings.Contains(content, "By users") || strings.Contains(content, "Users that were tried") {
		t.Error("the page shows users that there are not")
	}
	if strings.Contains(text.String(), "USERS") {
		t.Error("the text shows users that there are not")
	}
}

func TestComparisonPage(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	first, second := made("net", began), made("net", began.Add(time.Hour))
	second.Runs[0].Window.EndMs += 3000
	results := []report.Named{{Name: "monday", Result: first}, {Name: "tuesday", Result: second}}
	if err := report.WriteComparison(&content, results, first.Comparison); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title>monday and tuesday</title>", "monday, a 1", "tuesday, b 1", "monday, offered", "tuesday, offered",
		`<th class="number">tuesday, b</th>`, "How tuesday was made",
	} {
		if !strings.Contains(content.String(), want) {
			t.Errorf("the page does not say %s", want)
		}
	}
	for id, panel := range panelsOf(t, content.String()) {
		// A stack is of one run.
		if shaded := panel.Window != nil; shaded != panel.Stacked {
			t.Errorf("the panel %s shades %v, and should shade what was measured of all its runs", id, panel.Window)
		}
	}
}

// Runs whose measurement begins with one sample or the next are measured over the same time.
func TestTheMeasuredTimeOfSeveralRuns(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	first, second := made("net", began), made("net", began.Add(time.Hour))
	second.Runs[0].Window.BeginMs += 900
	second.Runs[0].Window.EndMs += 900
	results := []report.Named{{Name: "monday", Result: first}, {Name: "tuesday", Result: second}}
	if err := report.WriteComparison(&content, results, first.Comparison); err != nil {
		t.Fatal(err)
	}
	for id, panel := range panelsOf(t, content.String()) {
		if !panel.Stacked && !slices.Equal(panel.Window, []float64{2.9, 9}) {
			t.Errorf("the panel %s shades %v", id, panel.Window)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	if err := report.WriteText(&content, made("net", began)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(content.String(), "\n")
	if got, want := strings.Join(strings.Fields(lines[0]), " "), "FIGURE a b UNIT"; got != want {
		t.Errorf("the heading is %q, want %q", got, want)
	}
	for _, want := range []string{
		"ExecutedPerSecond", "note: spec.volume does not apply here\n", "note: a 1: of a\n", "note: think twice\n", "Regressed: CPU is worse",
	} {
		if !strings.Contains(content.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, &content)
		}
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	results := []report.Named{{Name: "x/1", Result: made("net", began)}, {Name: "x/2", Result: made("other", began.Add(time.Hour))}}
	if err := report.WriteHistory(&content, results); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(content.String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("the history has %d lines, want a heading and one for each of four variants:\n%s", len(lines), &content)
	}
	want := "2026-11-01 11:00:00 other b Regressed 100.0 500.0 500.0 0.000 5000.0 - - x/2"
	if got := strings.Join(strings.Fields(lines[4]), " "); got != want {
		t.Errorf("the last line is %q, want %q", got, want)
	}
}

func TestSite(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	results := []report.Named{
		{Name: "net/1/report.html", Result: made("net", began)},
		{Name: "net/2/report.html", Result: made("net", began.Add(time.Hour))},
		{Name: "other/1/report.html", Result: made("other", began)},
	}
	if err := report.WriteSite(&content, results); err != nil {
		t.Fatal(err)
	}
	page := content.String()
	if got := strings.Count(page, "<h2>"); got != 2 {
		t.Errorf("the site has %d benchmarks, want 2", got)
	}
	newest, oldest := strings.Index(page, `href="net/2/report.html"`), strings.Index(page, `href="net/1/report.html"`)
	if newest < 0 || oldest < newest {
		t.Error("the newest result is not the first")
	}
}
