// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	kwokScripts = "../../hack/devcluster/kwok"
	// firstPort is the first that is tried for the control plane, which takes
	// portCount in a row.
	firstPort = 25443
	portCount = 3
)

// place is which cluster of several one is.
type place struct {
	// name is that of its state's folder.
	name string
	// pods is the range of its pods' addresses.
	pods string
	// regions are those of its machines, which take turns.
	regions string
	// machines is how many it has.
	machines int
}

// cluster is a real control plane with fake machines.
type cluster struct {
	client.Client
	config     *rest.Config
	kubeconfig string
	// environment is that of the scripts.
	environment []string
	// audit is the log of the operator's requests.
	audit auditLog
}

func startCluster(t *testing.T, place place) *cluster {
	t.Helper()
	state := stateDir(t, place.name)
	environment := append(os.Environ(),
		"KWOK_STATE="+state,
		"KWOK_PORT="+strconv.Itoa(freePorts(t)),
		"KWOK_PODS="+place.pods,
		"KWOK_NODES="+strconv.Itoa(place.machines),
		"KWOK_AUDIT_POLICY="+absolute(t, "audit-policy.yaml"),
		"REGIONS="+place.regions,
	)
	// A run that was killed leaves its cluster behind.
	runScript(t.Context(), t, environment, "down.sh")
	t.Cleanup(func() { runScript(context.Background(), t, environment, "down.sh") })
	runScript(t.Context(), t, environment, "up.sh")

	kubeconfig := filepath.Join(state, "kubeconfig")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	// The test must not wait for itself.
	config.QPS = -1
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	api, err := client.New(config, client.Options{Scheme: known})
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{
		Client:     api,
		config:     config,
		kubeconfig: kubeconfig,
		audit:      auditLog{path: filepath.Join(state, "log", "audit.log")},

		environment: environment,
	}
}

// stop stops the control plane as an outage does.
func (c *cluster) stop(t *testing.T) {
	t.Helper()
	runScript(t.Context(), t, c.environment, "stop.sh")
}

// start starts a control plane that was stopped. KWOK does not remember which
// addresses are in use, so pods get them from another range than before.
func (c *cluster) start(t *testing.T, pods string) {
	t.Helper()
	runScript(t.Context(), t, append(slices.Clone(c.environment), "KWOK_PODS="+pods), "up.sh")
}

// stateDir is always the same, so that the next run finds what is left of one
// that was killed.
func stateDir(t *testing.T, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "shardyard", name)
}

// freePorts finds as many ports in a row as a control plane needs and returns
// the first.
func freePorts(t *testing.T) int {
	t.Helper()
	var config net.ListenConfig
	for first := firstPort; first < firstPort+1000; first += portCount {
		free := true
		for port := first; port < first+portCount; port++ {
			listener, err := config.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				free = false
				break
			}
			_ = listener.Close()
		}
		if free {
			return first
		}
	}
	t.Fatalf("no %d ports in a row are free from %d on", portCount, firstPort)
	return 0
}

func runScript(ctx context.Context, t *testing.T, environment []string, name string) {
	t.Helper()
	command := exec.CommandContext(ctx, filepath.Join(kwokScripts, name))
	command.Env = environment
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, output)
	}
}

// helm runs helm on the cluster, with a home of its own.
func (c *cluster) helm(t *testing.T, arguments ...string) {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), program(t, "HELM"), arguments...)
	command.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=" + c.kubeconfig}
	command.Stderr = &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(arguments, " "), err, stderr.Bytes())
	}
}

// program is the path of a program that the environment names.
func program(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s is not set: make scale and make fleet set it", variable)
	}
	return path
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// eventually waits until what is checked holds, and says what is missing when
// it does not within a time.
func eventually(t *testing.T, timeout time.Duration, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, timeout, true,
		func(ctx context.Context) (bool, error) {
			err := check(ctx)
			// A check that the end of the time interrupts knows less than the one before.
			if ctx.Err() == nil || last == nil {
				last = err
			}
			return err == nil, nil
		})
	if err != nil {
		t.Fatal(fmt.Errorf("not within %s: %w", timeout, last))
	}
}
