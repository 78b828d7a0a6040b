// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// settings are those of a cluster.
type settings struct {
	// number tells clusters of this machine from each other, from "1" on.
	number string
	nodes  string
	// regions are those of the nodes, which take turns.
	regions string
	// archives of images that make writes, to be put onto the nodes.
	archives []string
}

// theCluster is the one of most tests.
var theCluster = settings{
	number:  "1",
	nodes:   "2",
	regions: "us-east1,us-east4",
	archives: []string{
		"operator.tar", "operator-next.tar", "shardnode.tar", "shardnode-next.tar", "toolbox.tar", "jaeger.tar", "bucket.tar",
	},
}

// testLabel is on the namespaces that tests made.
const testLabel = "e2e.shardyard.dev/test"

// cluster is a Kubernetes.
type cluster struct {
	client.WithWatch
	settings
	clientset  *kubernetes.Clientset
	config     *rest.Config
	kubeconfig string
	helm       program
	kubectl    program
	// provider is what the nodes are made of: kind or namespaces.
	provider string
	// before is what the cluster held before anything was installed.
	before inventory
}

// startCluster starts the development cluster with the images on it. One that
// is up belongs to somebody, unless it was kept for this.
func startCluster(t *testing.T, settings settings, keep bool) *cluster {
	t.Helper()
	c := &cluster{settings: settings}
	if _, err := os.Stat(c.stateDir(t)); !keep && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a cluster is up, or was: remove it with make cluster-down CLUSTER=%s (%s, %v)", c.number, c.stateDir(t), err)
	}
	// Also when the start fails half-way. The part that takes the cluster down
	// comes earlier and makes this a no-op.
	t.Cleanup(func() {
		if !keep {
			c.down(t)
		}
	})
	up := c.script("up.sh")
	up.environment = append(up.environment, "NODES="+c.nodes, "REGIONS="+c.regions)
	kubeconfig := regexp.MustCompile(`(?m)^export KUBECONFIG=(.+)$`).FindStringSubmatch(up.mustRun(t))
	if kubeconfig == nil {
		t.Fatal("the cluster does not say where its kubeconfig is")
	}
	c.connect(t, kubeconfig[1])
	provider, err := os.ReadFile(filepath.Join(c.stateDir(t), "provider"))
	if err != nil {
		t.Fatal(err)
	}
	c.provider = strings.TrimSpace(string(provider))
	if c.before, err = c.inventory(t.Context()); err != nil {
		t.Fatal(err)
	}

	paths := make([]string, 0, len(c.archives))
	for _, archive := range c.archives {
		paths = append(paths, imageFile(archive))
	}
	c.script("load.sh").mustRun(t, paths...)
	return c
}

// imageFile is where make writes the archive of an image.
func imageFile(archive string) string {
	return filepath.Join(root, "bin/images", archive)
}

func (c *cluster) connect(t *testing.T, kubeconfig string) {
	t.Helper()
	home := t.TempDir()
	c.kubeconfig = kubeconfig
	c.helm = newProgram(t, "HELM", "HOME="+home, "KUBECONFIG="+kubeconfig)
	c.kubectl = newProgram(t, "KUBECTL", "HOME="+home, "KUBECONFIG="+kubeconfig)

	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if c.config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		t.Fatal(err)
	}
	// A test asks often, of old kinds as well.
	c.config.QPS = -1
	c.config.WarningHandler = rest.NoWarnings{}
	if c.clientset, err = kubernetes.NewForConfig(c.config); err != nil {
		t.Fatal(err)
	}
	if c.WithWatch, err = client.NewWithWatch(c.config, client.Options{Scheme: known}); err != nil {
		t.Fatal(err)
	}
}

// down removes the cluster.
func (c *cluster) down(t *testing.T) {
	t.Helper()
	// The test's context has ended when this cleans up.
	if _, err := c.script("down.sh").run(context.Background(), ""); err != nil {
		t.Error(err)
	}
}

// stateDir is where the development cluster keeps its state.
func (s settings) stateDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(cacheDir(t), "devcluster"+strings.TrimPrefix(s.number, "1"))
}

// script is a script of the development cluster, run as a user would run it.
func (s settings) script(name string) program {
	return program{root + "/hack/devcluster/" + name, append(os.Environ(), "CLUSTER="+s.number)}
}

func cacheDir(t *testing.T) string {
	t.Helper()
	folder, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "shardyard")
}

// newNamespace makes a namespace that enforces a Pod Security level.
func (c *cluster) newNamespace(t *testing.T, name, level string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": level, testLabel: "true"},
	}}
	if err := client.IgnoreAlreadyExists(c.Create(t.Context(), namespace)); err != nil {
		t.Fatal(err)
	}
}
