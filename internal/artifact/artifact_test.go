// SPDX-License-Identifier: Apache-2.0

package artifact_test

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/result"
)

func made(name string, second int64) *result.Result {
	return &result.Result{
		SchemaVersion: result.SchemaVersion,
		Benchmark: v1alpha1.Benchmark{
			TypeMeta:   metav1.TypeMeta{APIVersion: "shardyard.dev/v1alpha1", Kind: v1alpha1.KindBenchmark},
			ObjectMeta: metav1.ObjectMeta{Name: name},
		},
		StartedAt: time.Unix(second, 0).UTC(),
		EndedAt:   time.Unix(second+1, 0).UTC(),
		Variants:  []result.Variant{{Figures: []result.Figure{{Name: v1alpha1.FigureCPUCores, Unit: "cores", Value: 1}}}},
		Verdict:   result.Verdict{Outcome: result.Succeeded, Words: []string{"fine"}},
	}
}

func write(t *testing.T, folder string, made *result.Result) {
	t.Helper()
	if err := artifact.Make(folder); err != nil {
		t.Fatal(err)
	}
	if err := artifact.Write(folder, made); err != nil {
		t.Fatal(err)
	}
}

// Who reads a result while it is written again has it whole, and so has who finds what is
// left of a writer that was ended.
func TestArtifactIsNeverHalf(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, made("net", 1))
	for _, file := range artifact.Files {
		path := filepath.Join(folder, file)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		if err := artifact.Write(folder, made("another", 2)); err != nil {
			t.Fatal(err)
		}
		if seen, err := io.ReadAll(opened); err != nil || string(seen) != string(before) {
			t.Errorf("%s is written over while somebody reads it: %v", file, err)
		}
		if err := artifact.Write(folder, made("net", 1)); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != len(artifact.Files) {
		t.Errorf("%v is left: %v", left, err)
	}
}

func TestArtifact(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new")
	want := made("net", 1)
	write(t, folder, want)
	for _, path := range []string{folder, filepath.Join(folder, artifact.ResultFile)} {
		got, err := artifact.Read(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("reads %+v, want %+v", got, want)
		}
	}
	for file, want := range map[string]string{
		artifact.BlocksFile: "variant,repetition,", artifact.FailuresFile: "variant,repetition,measured,beganMs",
		artifact.ReportFile: "<!doctype html>", artifact.BenchmarkFile: "kind: Benchmark",
	} {
		content, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), want) {
			t.Errorf("%s does not hold %q", file, want)
		}
	}
	// What is there is not written over.
	if err := artifact.Make(folder); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("the error is %v, want that the folder is not empty", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := artifact.Find(t.Context(), folder); err == nil {
		t.Error("there are results in an empty folder")
	}
	write(t, filepath.Join(folder, "a", "late"), made("net", 20))
	write(t, filepath.Join(folder, "b"), made("net", 10))
	found, err := artifact.Find(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].Folder != filepath.Join(folder, "b") || found[1].Result.StartedAt.Unix() != 20 {
		t.Errorf("finds %+v, want the oldest first", found)
	}
	if err := os.WriteFile(filepath.Join(folder, "b", artifact.ResultFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := artifact.Find(t.Context(), folder); err == nil || !strings.Contains(err.Error(), filepath.Join(folder, "b")) {
		t.Errorf("the error is %v, want the file that is wrong", err)
	}
}

// Every link of the page of all results leads to the page of one.
func TestSite(t *testing.T) {
	t.Parallel()
	folder, site := t.TempDir(), filepath.Join(t.TempDir(), "site")
	for i, name := range []string{"net", "net", "other"} {
		write(t, filepath.Join(folder, string(rune('a'+i))), made(name, int64(i)))
	}
	count, err := artifact.WriteSite(t.Context(), folder, site)
	if err != nil || count != 3 {
		t.Fatalf("%d results are shown, want 3: %v", count, err)
	}
	content, err := os.ReadFile(filepath.Join(site, artifact.SiteFile))
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, part := range strings.Split(string(content), `href="`)[1:] {
		link, _, _ := strings.Cut(part, `"`)
		if _, err := os.Stat(filepath.Join(site, link)); err != nil {
			t.Errorf("the page links to %s: %v", link, err)
		}
		links++
	}
	if links != 3 {
		t.Errorf("the page has %d links, want 3:\n%s", links, content)
	}
	if _, err := artifact.WriteSite(t.Context(), folder, filepath.Join(folder, "site")); err == nil ||
		!strings.Contains(err.Error(), "is inside") {
		t.Errorf("the error is %v, want that a site is not among what it shows", err)
	}
	// However the two are written.
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{relative, "file://" + folder} {
		if _, err := artifact.WriteSite(t.Context(), place, filepath.Join(folder, "site")); err == nil ||
			!strings.Contains(err.Error(), "is inside") {
			t.Errorf("the error of %s is %v, want that a site is not among what it shows", place, err)
		}
	}
}

// What a newer program wrote is shown as far as this one knows it, and kept in the site as
// it is.
func TestSiteOfANewerProgram(t *testing.T) {
	t.Parallel()
	folder, site := t.TempDir(), filepath.Join(t.TempDir(), "site")
	write(t, folder, made("net", 1))
	path := filepath.Join(folder, artifact.ResultFile)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(content), `"metadata":{`, `"weather":"rain","metadata":{`, 1)
	if newer == string(content) {
		t.Fatalf("the result is %s", content)
	}
	if err := os.WriteFile(path, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := artifact.WriteSite(t.Context(), folder, site); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{artifact.ResultFile: newer, artifact.BenchmarkFile: "weather: rain\n"} {
		kept, err := os.ReadFile(filepath.Join(site, "net", "19700101T000001.000000000Z", file))
		if err != nil || !strings.Contains(string(kept), want) {
			t.Errorf("%s of the site is (%v)\n%s\nwant in it\n%s", file, err, kept, want)
		}
	}
}

// A result that somebody put among others leads out of no site.
func TestSitesKeepToTheirFolder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../elsewhere", "/elsewhere", "a/b"} {
		folder, around := t.TempDir(), t.TempDir()
		write(t, filepath.Join(folder, "a"), made(name, 1))
		_, err := artifact.WriteSite(t.Context(), folder, filepath.Join(around, "1", "site"))
		if err == nil || !strings.Contains(err.Error(), "which is no name") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if entries, err := os.ReadDir(around); err != nil || len(entries) > 0 {
			t.Errorf("%s: there is %v (%v)", name, entries, err)
		}
	}
}

// profiled writes an artifact with a profile of its second run.
func profiled(t *testing.T, folder string) *result.Result {
	t.Helper()
	made := made("net", 1)
	made.Runs = []result.Run{{Repetition: 1}, {Repetition: 2, Profile: &result.Profile{
		Kind: "Allocations", Taken: result.ProfileDuring, Files: []string{"profiles/run-2.pb.gz", "profiles/run-2.html"},
	}}}
	write(t, folder, made)
	if err := os.Mkdir(filepath.Join(folder, "profiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range made.Runs[1].Profile.Files {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// The page of a result links to its profiles, in its artifact and in a site.
func TestProfiles(t *testing.T) {
	t.Parallel()
	folder, site := t.TempDir(), filepath.Join(t.TempDir(), "site")
	one := filepath.Join(folder, "one")
	want := profiled(t, one).Runs
	if _, err := artifact.WriteSite(t.Context(), folder, site); err != nil {
		t.Fatal(err)
	}
	found, err := artifact.Find(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{one, found[0].Folder} {
		read, err := artifact.Read(t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(read.Runs, want) {
			t.Errorf("%s has the runs %+v, want %+v", place, read.Runs, want)
		}
		checkLinks(t, place, want[1].Profile.Files)
	}
}

// checkLinks checks that a page links to files, and that they are there.
func checkLinks(t *testing.T, folder string, files []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(folder, artifact.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.Contains(string(page), `<a href="`+file+`">`) {
			t.Errorf("the page of %s has no link to %s", folder, file)
		}
		if content, err := os.ReadFile(filepath.Join(folder, file)); err != nil || string(content) != file {
			t.Errorf("%s of %s is %q (%v)", file, folder, content, err)
		}
	}
}

// A site has nothing that is not in an artifact.
func TestProfilesFromElsewhere(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	one := filepath.Join(folder, "one")
	made := profiled(t, one)
	made.Runs[1].Profile.Files = []string{"../secret"}
	if err := artifact.Write(one, made); err != nil {
		t.Fatal(err)
	}
	_, err := artifact.WriteSite(t.Context(), folder, filepath.Join(t.TempDir(), "site"))
	if err == nil || !strings.Contains(err.Error(), "is not in the artifact") {
		t.Errorf("the error is %v", err)
	}
}
