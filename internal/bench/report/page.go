// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
)

//go:embed assets/report.html
var pageTemplate string

//go:embed assets/report.js
var script string

//go:embed assets/report.css
var style string

//go:embed assets/uPlot.iife.min.js
var library string

//go:embed assets/uPlot.min.css
var libraryStyle string

// page is what the template shows.
type page struct {
	Title   string
	Style   template.CSS
	Library template.JS
	Script  template.JS
	// Several says that the page shows more than one result.
	Several bool
	Results []shownResult
	Columns []string
	Figures []figureRow
	// Baseline, Changes and ComparisonNotes are empty without a comparison.
	Baseline        string
	Changes         []changeRow
	Phases          []phaseRow
	ComparisonNotes []string
	Notes           []string
	Steps           []stepRow
	Users           []userRow
	Accounts        []accountRow
	Nodes           []nodeRow
	Profiles        []profileRow
	CountColumns    []string
	Counts          []countRow
	Data            *Data
}

// shownResult is what is shown of one result.
type shownResult struct {
	Name, Outcome, When, Spec string
	Words, NotApplied         []string
	Facts                     []fact
}

type fact struct {
	Name, Value string
}

// stepRow is one rate that a search tried.
type stepRow struct {
	Run, Seconds, Rate, Executed, Outcome, Words string
}

type nodeRow struct {
	Run, Name, Role, CPU, Memory, Read, Written string
	// Sent and Received are of the network.
	Sent, Received, Endorsed, Refused string
}

// Write writes the page of a result.
func Write(out io.Writer, made *result.Result) error {
	return write(out, made.Benchmark.Name, made.Comparison, []Named{{Name: made.Benchmark.Name, Result: made}})
}

// WriteComparison writes the page of several results, overlaid, and of how the
// last one compares with the first.
func WriteComparison(out io.Writer, results []Named, comparison *result.Comparison) error {
	names := make([]string, 0, len(results))
	for _, named := range results {
		names = append(names, named.Name)
	}
	return write(out, strings.Join(names, " and "), comparison, results)
}

// Named is a result and what it is called.
type Named struct {
	Name   string
	Result *result.Result
}

func write(out io.Writer, title string, comparison *result.Comparison, results []Named) error {
	parsed, err := template.New("report").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	data := draw(labelRuns(results))
	shown := page{
		Title:    title,
		Accounts: accountRows(labelRuns(results)),
		Style:    template.CSS(libraryStyle + style),
		Library:  template.JS(library),
		Script:   template.JS(script),
		Several:  len(results) > 1,
		Data:     &data,
		Steps:    stepRows(labelRuns(results)),
		Users:    userRows(labelRuns(results)),
		Nodes:    nodeRows(labelRuns(results)),
	}
	shown.Columns, shown.Figures = figureTable(results)
	if !shown.Several {
		// The page of several results is in the artifact of none.
		shown.Profiles = profileRows(labelRuns(results))
	}
	shown.CountColumns, shown.Counts = countTable(labelRuns(results))
	if comparison != nil {
		shown.Baseline, shown.ComparisonNotes = comparison.Baseline, comparison.Notes
		shown.Changes, shown.Phases = changeRows(comparison), phaseRows(comparison.Phases)
	}
	for _, named := range results {
		content, err := showResult(named)
		if err != nil {
			return err
		}
		shown.Results = append(shown.Results, content)
	}
	for _, labelled := range labelRuns(results) {
		for _, note := range labelled.run.Notes {
			shown.Notes = append(shown.Notes, labelled.label+": "+note)
		}
	}
	if err := parsed.Execute(out, shown); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// labelRuns names all runs of all results.
func labelRuns(results []Named) []labelled {
	var runs []labelled
	colors := map[string]int{}
	for _, named := range results {
		for i := range named.Result.Runs {
			run := &named.Result.Runs[i]
			label, offered := labelOf(run), ""
			// A fixed count has no rate.
			drawn := i == 0 && run.FixedCount == nil
			if drawn {
				offered = "offered"
			}
			if len(results) > 1 {
				label = named.Name + ", " + label
				if drawn {
					offered = named.Name + ", offered"
				}
			}
			kind := named.Name + " " + run.Variant
			if _, known := colors[kind]; !known {
				colors[kind] = len(colors)
			}
			runs = append(runs, labelled{label: label, run: run, color: colors[kind], offered: offered})
		}
	}
	if len(colors) == 1 {
		for i := range runs {
			runs[i].color = i
		}
	}
	return runs
}

// labelOf is what a run is called in its result.
func labelOf(run *result.Run) string {
	return fmt.Sprintf("%s %d", cmp.Or(run.Variant, "run"), run.Repetition)
}

func showResult(named Named) (shownResult, error) {
	made := named.Result
	spec, err := yaml.Marshal(&made.Benchmark)
	if err != nil {
		return shownResult{}, fmt.Errorf("encode benchmark: %w", err)
	}
	return shownResult{
		Name:       named.Name,
		Outcome:    string(made.Verdict.Outcome),
		When:       made.StartedAt.Format(time.RFC3339) + " to " + made.EndedAt.Format(time.RFC3339),
		Words:      made.Verdict.Words,
		Facts:      facts(made),
		NotApplied: made.NotApplied,
		Spec:       string(spec),
	}, nil
}

// facts are where and with what a result was made. What is not known is left out.
func facts(made *result.Result) []fact {
	var known []fact
	add := func(name, value string) {
		if value != "" {
			known = append(known, fact{name, value})
		}
	}
	environment := &made.Environment
	add("again with", strings.Join(made.Repeat, " "))
	add("was", strings.Join(made.Command, " "))
	add("commit", made.Commit)
	add("shardyard", describe(&made.Shardyard))
	for i := range made.Variants {
		add(strings.TrimSpace("shardnode "+made.Variants[i].Name), describe(&made.Variants[i].Shardnode))
	}
	add("seeds", fmt.Sprintf("genesis %q, intervals %d", made.Seeds.Genesis, made.Seeds.Statistics))
	if network := environment.Network; network != nil {
		add("network", fmt.Sprintf("%s, there since %s, at height %d when the first load began",
			network.Name, network.CreatedAt.UTC().Format(time.RFC3339), network.Height))
	}
	known = append(known, machineFacts(made)...)
	if environment.CPUs > 0 {
		add("processors", fmt.Sprintf("%d %s", environment.CPUs, environment.CPUModel))
	}
	if environment.MemoryBytes != nil {
		add("memory", fmt.Sprintf("%d MiB", *environment.MemoryBytes/mebibyte))
	}
	add("system", strings.TrimSpace(strings.Join([]string{environment.OS, environment.Architecture, environment.Kernel}, " ")))
	add("file system", environment.FileSystem)
	if environment.LoadAverage != nil {
		add("load average at the beginning", fmt.Sprintf("%.2f", *environment.LoadAverage))
	}
	return known
}

// machineFacts are the machines of a cluster that nodes were on: once, if they are those
// of all runs.
func machineFacts(made *result.Result) []fact {
	var known []fact
	for i := range made.Runs {
		run := &made.Runs[i]
		kinds := make([]string, len(run.Machines))
		for j, kind := range run.Machines {
			kinds[j] = fmt.Sprintf("%d of %s", kind.Count, kind)
		}
		if len(kinds) > 0 {
			known = append(known, fact{"machines, " + labelOf(run), strings.Join(kinds, "; ")})
		}
	}
	for i := range known {
		if len(known) < len(made.Runs) || known[i].Value != known[0].Value {
			return known
		}
	}
	if len(known) > 0 {
		return []fact{{"machines", known[0].Value}}
	}
	return nil
}

func describe(program *result.Program) string {
	var parts []string
	if program.Version != "" {
		parts = append(parts, program.Version)
	}
	if program.Image != "" {
		parts = append(parts, program.Image)
	}
	if program.ImageID != "" {
		parts = append(parts, program.ImageID)
	}
	if program.SHA256 != "" {
		parts = append(parts, "sha256:"+program.SHA256)
	}
	if program.Path != "" {
		parts = append(parts, program.Path)
	}
	return strings.Join(parts, " ")
}

func stepRows(runs []labelled) []stepRow {
	var rows []stepRow
	for _, labelled := range runs {
		if labelled.run.Search == nil {
			continue
		}
		for i := range labelled.run.Search.Steps {
			step := &labelled.run.Search.Steps[i]
			row := stepRow{
				Run:      labelled.label,
				Seconds:  fmt.Sprintf("%.0f to %.0f", secondsOf(labelled.run, step.BeganMs), secondsOf(labelled.run, step.EndedMs)),
				Rate:     strconv.FormatInt(step.TransfersPerSecond, 10),
				Executed: figures.Number(step.ExecutedPerSecond),
				Outcome:  "holds",
				Words:    step.Words,
			}
			if !step.Holds {
				row.Outcome = "does not hold"
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func nodeRows(runs []labelled) []nodeRow {
	var rows []nodeRow
	for _, labelled := range runs {
		for i := range labelled.run.Nodes {
			node := &labelled.run.Nodes[i]
			row := nodeRow{Run: labelled.label, Name: node.Name, Role: node.Role}
			if node.CPUSeconds != nil {
				row.CPU = fmt.Sprintf("%.2f", *node.CPUSeconds)
			}
			row.Memory, row.Read, row.Written = mebibytes(node.PeakMemoryBytes), mebibytes(node.DiskReadBytes), mebibytes(node.DiskWrittenBytes)
			row.Sent, row.Received = mebibytes(node.NetworkSentBytes), mebibytes(node.NetworkReceivedBytes)
			row.Endorsed, row.Refused = number(node.ChecksEndorsed), number(node.ChecksRefused)
			rows = append(rows, row)
		}
	}
	return rows
}

func number(count *uint64) string {
	if count == nil {
		return ""
	}
	return strconv.FormatUint(*count, 10)
}

func mebibytes(bytes *uint64) string {
	if bytes == nil {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(*bytes)/mebibyte)
}
