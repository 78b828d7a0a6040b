// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/resources"
)

// errNotYet is what a pod says that does not answer yet.
var errNotYet = errors.New("connection refused")

// judged is a benchmark of the API server that has a result, which a pod shows.
type judged struct {
	t         *testing.T
	client    client.Client
	benchmark *v1alpha1.Benchmark
	fetch     fetch
	// remote is the folder of the result in the cluster.
	remote string
	// attempts counts how often somebody asked for a way to the pod.
	attempts int
}

func newJudged(t *testing.T) *judged {
	t.Helper()
	j := &judged{t: t, remote: t.TempDir()}
	j.fetch = fetch{
		cluster: clusterFlags{kubeconfig: kubeconfig(t)}, folder: filepath.Join(t.TempDir(), "fetched"),
		timeout: time.Minute, forward: j.forward,
	}
	var err error
	if j.client, err = j.fetch.cluster.client(); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "fetch-"}}
	j.must(j.client.Create(t.Context(), namespace))
	j.fetch.namespace = namespace.Name
	if j.benchmark, err = manifest.ReadBenchmark("../../config/samples/benchmark/near-4-shards-local.yaml"); err != nil {
		t.Fatal(err)
	}
	j.benchmark.Namespace = namespace.Name
	j.must(j.client.Create(t.Context(), j.benchmark))
	made := &result.Result{
		SchemaVersion: result.SchemaVersion, Benchmark: *j.benchmark, Variants: []result.Variant{{}},
		Verdict: result.Verdict{Outcome: result.Succeeded, Words: []string{"all is well"}},
	}
	j.must(artifact.Write(j.remote, made))
	return j
}

func (j *judged) must(err error) {
	j.t.Helper()
	if err != nil {
		j.t.Fatal(err)
	}
}

// end has the benchmark have a result.
func (j *judged) end() {
	j.t.Helper()
	j.must(j.client.Create(j.t.Context(), resources.NewJudge(j.benchmark, resources.RecorderInputs{Image: "operator:judge"})))
	j.benchmark.Status.Artifact = &v1alpha1.BenchmarkArtifact{ClaimName: "claim", Path: "artifact"}
	j.must(j.client.Status().Update(j.t.Context(), j.benchmark))
}

// readers are the pods that read the result.
func (j *judged) readers() []corev1.Pod {
	j.t.Helper()
	pods, readers := &corev1.PodList{}, []corev1.Pod{}
	j.must(j.client.List(j.t.Context(), pods, client.InNamespace(j.fetch.namespace)))
	for i := range pods.Items {
		if strings.Contains(pods.Items[i].Name, "-reader-") && pods.Items[i].DeletionTimestamp == nil {
			readers = append(readers, pods.Items[i])
		}
	}
	return readers
}

// start has the cluster start the reader once it is there.
func (j *judged) start(phase corev1.PodPhase) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		for _, pod := range j.readers() {
			if got := pod.Spec.Containers[0].Image; got != "operator:judge" {
				j.t.Errorf("the reader is made of %s", got)
			}
			pod.Status.Phase = phase
			if err := j.client.Status().Update(j.t.Context(), &pod); err == nil {
				return
			}
		}
		select {
		case <-j.t.Context().Done():
			return
		case <-ticker.C:
		}
	}
}

// forward leads to what the reader shows, at the second attempt.
func (j *judged) forward(_ context.Context, _ *corev1.Pod, _ int, serve func(address string) error) error {
	if j.attempts++; j.attempts == 1 {
		return errNotYet
	}
	server := httptest.NewServer(http.FileServerFS(os.DirFS(j.remote)))
	defer server.Close()
	return serve(strings.TrimPrefix(server.URL, "http://"))
}

func TestFetch(t *testing.T) {
	t.Parallel()
	j := newJudged(t)
	j.end()
	go j.start(corev1.PodRunning)
	var out strings.Builder
	j.must(j.fetch.run(t.Context(), &out, j.benchmark.Name))
	if !strings.Contains(out.String(), "Succeeded: all is well") {
		t.Errorf("it says\n%s", out.String())
	}
	for _, file := range artifact.Files {
		want, err := os.ReadFile(filepath.Join(j.remote, file))
		j.must(err)
		if got, err := os.ReadFile(filepath.Join(j.fetch.folder, file)); err != nil || string(got) != string(want) {
			t.Errorf("%s differs: %v", file, err)
		}
	}
	if left := j.readers(); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name)
	}
}

func TestFetchWithoutAResult(t *testing.T) {
	t.Parallel()
	j := newJudged(t)
	err := j.fetch.run(t.Context(), &strings.Builder{}, j.benchmark.Name)
	if err == nil || !strings.Contains(err.Error(), "near-4-shards-local has no result") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(j.fetch.folder); err == nil {
		t.Error("there is a folder for no result")
	}
}

func TestFetchInNoTime(t *testing.T) {
	t.Parallel()
	lines := shardyardFails(t, "bench", "fetch", "net", "--timeout", "-1s")
	if want := "error: --timeout must be positive, is -1s"; len(lines) != 1 || lines[0] != want {
		t.Errorf("it says %q, want %q", lines, want)
	}
}

// Whatever goes wrong, no pod is left, and no file that keeps the next from fetching.
func TestFetchFails(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		phase corev1.PodPhase
		harm  func(j *judged)
		want  string
	}{
		"the pod fails": {corev1.PodFailed, func(*judged) {}, "ended: see kubectl logs"},
		"a file is missing": {
			corev1.PodRunning,
			func(j *judged) { j.must(os.Remove(filepath.Join(j.remote, artifact.ReportFile))) },
			"report.html: 404",
		},
		"a file cannot be written": {
			corev1.PodRunning,
			func(j *judged) {
				j.fetch.forward = func(ctx context.Context, pod *corev1.Pod, port int, serve func(string) error) error {
					// Another file of that name is in the way by now.
					if err := os.Mkdir(filepath.Join(j.fetch.folder, artifact.ReportFile), 0o700); err != nil {
						j.t.Error(err)
						return nil
					}
					j.attempts++
					return j.forward(ctx, pod, port, serve)
				}
			},
			"report.html: file exists",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJudged(t)
			j.end()
			test.harm(j)
			go j.start(test.phase)
			err := j.fetch.run(t.Context(), &strings.Builder{}, j.benchmark.Name)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one that says %q", err, test.want)
			}
			if left, err := os.ReadDir(j.fetch.folder); err != nil || len(left) > 0 {
				t.Errorf("%v is left: %v", left, err)
			}
			if left := j.readers(); len(left) > 0 {
				t.Errorf("%s is left", left[0].Name)
			}
		})
	}
}
