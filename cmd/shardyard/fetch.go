// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/report"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/wholefile"
)

const (
	// readerPollInterval is how often a reader is looked at that starts.
	readerPollInterval = 500 * time.Millisecond
	// removalTimeout bounds the removal of a reader when time is up.
	removalTimeout = 10 * time.Second

	resultFileMode os.FileMode = 0o644
)

const fetchLong = `Fetch the result of a benchmark that ran in a cluster: a folder as that of bench
run. A pod that has the volume of the result is made for it, and removed again. It
takes the rights to make pods and to forward ports to them.`

// fetch fetches the result of a benchmark.
type fetch struct {
	cluster                  clusterFlags
	namespace, folder, image string
	timeout                  time.Duration
	// forward leads to a port of a pod for as long as serve lasts.
	forward func(ctx context.Context, pod *corev1.Pod, port int, serve func(address string) error) error
}

func newBenchFetchCommand() *cobra.Command {
	var given fetch
	given.forward = given.cluster.forward
	command := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Fetch the result of a benchmark that ran in a cluster",
		Long:  fetchLong,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return given.run(command.Context(), command.OutOrStdout(), args[0])
		},
	}
	given.cluster.add(command)
	flags := command.Flags()
	flags.StringVarP(&given.namespace, "namespace", "n", "", "namespace of the benchmark (default that of the context)")
	flags.StringVarP(&given.folder, "output", "o", "", "folder to write the result to, new or empty (default results/NAME)")
	flags.StringVar(&given.image, "image", "", "image of the pod that reads the result, an operator's (default that of the pod that made it)")
	flags.DurationVar(&given.timeout, "timeout", 2*time.Minute, "how long it may take in all")
	return command
}

func (f *fetch) run(ctx context.Context, out io.Writer, name string) error {
	if f.timeout <= 0 {
		return fmt.Errorf("--timeout must be positive, is %s", f.timeout)
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	config, namespace, err := f.cluster.config()
	if err != nil {
		return err
	}
	if f.namespace != "" {
		namespace = f.namespace
	}
	cluster, err := newClient(config)
	if err != nil {
		return err
	}
	benchmark := &v1alpha1.Benchmark{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, benchmark); err != nil {
		return err
	}
	if benchmark.Status.Artifact == nil {
		return noResult(benchmark)
	}
	folder := f.folder
	if folder == "" {
		folder = filepath.Join("results", name)
	}
	if err := artifact.Make(folder); err != nil {
		return err
	}
	if err := f.read(ctx, cluster, benchmark, folder); err != nil {
		return errors.Join(fmt.Errorf("fetch the result of %s: %w", name, err), removeFiles(folder))
	}
	made, err := artifact.Read(ctx, folder)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "the result is in %s\n\n", folder); err != nil {
		return err
	}
	return report.WriteText(out, made)
}

// noResult says why a benchmark has none.
func noResult(benchmark *v1alpha1.Benchmark) error {
	words := "no operator has seen it yet"
	if ready := meta.FindStatusCondition(benchmark.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		words = ready.Message
	}
	return fmt.Errorf("%s has no result: it is %s: %s", benchmark.Name, benchmark.Status.Phase, words)
}

// read has a pod read the result while it is copied.
func (f *fetch) read(ctx context.Context, cluster client.Client, benchmark *v1alpha1.Benchmark, folder string) (err error) {
	image, err := f.readerImage(ctx, cluster, benchmark)
	if err != nil {
		return err
	}
	pod := resources.NewReader(benchmark, image)
	if err := cluster.Create(ctx, pod); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalTimeout)
		defer cancel()
		err = errors.Join(err, client.IgnoreNotFound(cluster.Delete(ctx, pod)))
	}()
	if err := awaitRunning(ctx, cluster, pod); err != nil {
		return err
	}
	return f.copy(ctx, pod, folder)
}

// copy copies the files of a result. A pod that runs may not answer yet.
func (f *fetch) copy(ctx context.Context, pod *corev1.Pod, folder string) error {
	ticker := time.NewTicker(readerPollInterval)
	defer ticker.Stop()
	for {
		err := f.forward(ctx, pod, resources.ReaderPort, func(address string) error { return copyFrom(ctx, address, folder) })
		_, answered := errors.AsType[*answerError](err)
		if _, unkept := errors.AsType[*keepError](err); err == nil || answered || unkept {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

func copyFrom(ctx context.Context, address, folder string) error {
	for _, file := range artifact.Files {
		err := download(ctx, "http://"+address+"/"+file, filepath.Join(folder, file))
		if answer, ok := errors.AsType[*answerError](err); ok && answer.code == http.StatusNotFound && artifact.Lacking(file) {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFiles removes what was copied of a result: the folder is empty for whoever fetches
// it again.
func removeFiles(folder string) error {
	var failures []error
	for _, file := range artifact.Files {
		if err := os.Remove(filepath.Join(folder, file)); !errors.Is(err, os.ErrNotExist) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// keepError is a file that was answered and cannot be written here.
type keepError struct{ error }

func (e *keepError) Unwrap() error { return e.error }

// answerError is an answer that is no file.
type answerError struct {
	file, status string
	code         int
}

func (e *answerError) Error() string { return e.file + ": " + e.status }

// readerImage is the image that has the program of a reader.
func (f *fetch) readerImage(ctx context.Context, cluster client.Client, benchmark *v1alpha1.Benchmark) (string, error) {
	if f.image != "" {
		return f.image, nil
	}
	judge := &corev1.Pod{}
	key := client.ObjectKey{Namespace: benchmark.Namespace, Name: resources.JudgeName(benchmark.Name)}
	if err := cluster.Get(ctx, key, judge); err != nil {
		return "", fmt.Errorf("name the operator's image with --image, as the pod that made it does not say: %w", err)
	}
	if !metav1.IsControlledBy(judge, benchmark) {
		return "", fmt.Errorf("name the operator's image with --image: the pod %s is not the benchmark's", judge.Name)
	}
	return judge.Spec.Containers[0].Image, nil
}

// awaitRunning waits until a pod runs.
func awaitRunning(ctx context.Context, cluster client.Client, pod *corev1.Pod) error {
	ticker := time.NewTicker(readerPollInterval)
	defer ticker.Stop()
	for {
		if err := cluster.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return fmt.Errorf("wait for pod %s: %w", pod.Name, err)
		}
		switch pod.Status.Phase {
		case corev1.PodRunning:
			return nil
		case corev1.PodFailed, corev1.PodSucceeded:
			return fmt.Errorf("the pod %s ended: see kubectl logs %s", pod.Name, pod.Name)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the pod %s does not run yet: it is %s: %w", pod.Name, pod.Status.Phase, ctx.Err())
		case <-ticker.C:
		}
	}
}

// download copies a file.
func download(ctx context.Context, from, into string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return err
	}
	// Straight to the pod, whatever the environment says of proxies.
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return &answerError{filepath.Base(into), response.Status, response.StatusCode}
	}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(into), err)
	}
	if err := wholefile.Write(into, content, resultFileMode); err != nil {
		return &keepError{err}
	}
	return nil
}
