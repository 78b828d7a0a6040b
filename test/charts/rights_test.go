// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// serviceAccountConfig writes a kubeconfig of a service account and returns its
// path.
func (c cluster) serviceAccountConfig(t *testing.T, namespace, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	var token authenticationv1.TokenRequest
	if err := c.SubResource("token").Create(t.Context(), account, &token); err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: c.config.Host, CertificateAuthorityData: c.config.CAData}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// operatorArguments are those of the chart's Deployment, without what only
// makes sense in a pod.
func (c cluster) operatorArguments(t *testing.T, namespace, name string) []string {
	t.Helper()
	var deployment appsv1.Deployment
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &deployment); err != nil {
		t.Fatal(err)
	}
	arguments := slices.DeleteFunc(deployment.Spec.Template.Spec.Containers[0].Args, func(argument string) bool {
		return argument == "--leader-elect"
	})
	return append(arguments, "--metrics-bind-address=0", "--health-probe-bind-address=0")
}

// operator is a running operator.
type operator struct {
	command *exec.Cmd
	log     bytes.Buffer
}

// startOperator runs the operator with the rights of the chart's service
// account.
func (c cluster) startOperator(t *testing.T, namespace, name string) *operator {
	t.Helper()
	program := filepath.Join(t.TempDir(), "operator")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/operator")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the operator: %v\n%s", err, output)
	}

	// The end of the test kills it, if nothing has stopped it until then.
	o := &operator{command: exec.CommandContext(t.Context(), program, c.operatorArguments(t, namespace, name)...)}
	o.command.Env = []string{"KUBECONFIG=" + c.serviceAccountConfig(t, namespace, name), "POD_NAMESPACE=" + namespace}
	o.command.Stderr = &o.log
	if err := o.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if o.command.ProcessState == nil {
			_ = o.command.Wait()
		}
	})
	return o
}

// stop stops the operator and returns its log.
func (o *operator) stop(t *testing.T) string {
	t.Helper()
	if err := o.command.Process.Signal(os.Interrupt); err != nil {
		t.Errorf("stop the operator: %v", err)
	}
	if err := o.command.Wait(); err != nil {
		t.Errorf("the operator ended badly: %v\n%s", err, o.log.Bytes())
	}
	return o.log.String()
}

// eventually waits until what is checked holds, and says what is missing when
// it never does.
func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			last = check(ctx)
			return last == nil, nil
		})
	if err != nil {
		t.Errorf("%v: %v", err, last)
	}
}

func TestTheChartsRightsAreEnough(t *testing.T) {
	cluster := startCluster(t)
	cluster.installOperator(t, operatorChart, "--namespace", "shardyard-system", "--create-namespace",
		"--set", "podMonitorLabels.release=monitoring")
	operator := cluster.startOperator(t, "shardyard-system", "op-shardyard")

	// This preset has volumes with a storage class of their own.
	cluster.mustRun(t, "install", "four", testnetChart, "--set", "preset=near-4-shards")
	key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "four"}
	eventually(t, func(ctx context.Context) error {
		var network v1alpha1.ShardNetwork
		if err := cluster.Get(ctx, key, &network); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(network.Status.Conditions, v1alpha1.ConditionApplied) {
			return fmt.Errorf("not everything is applied: %+v", network.Status.Conditions)
		}
		return nil
	})
	var validators appsv1.StatefulSetList
	if err := cluster.List(t.Context(), &validators); err != nil {
		t.Fatal(err)
	}
	if len(validators.Items) != 4 {
		t.Errorf("there are %d validators, want 4", len(validators.Items))
	}

	cluster.mustRun(t, "uninstall", "four")
	eventually(t, func(ctx context.Context) error {
		if err := cluster.Get(ctx, key, &v1alpha1.ShardNetwork{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the network is still there: %w", err)
		}
		var classes storagev1.StorageClassList
		if err := cluster.List(ctx, &classes); err != nil {
			return err
		}
		if len(classes.Items) > 0 {
			return fmt.Errorf("storage classes are left: %v", classes.Items)
		}
		return nil
	})

	refused := slices.DeleteFunc(slices.Collect(strings.Lines(operator.stop(t))), func(line string) bool {
		return !strings.Contains(line, "forbidden")
	})
	if len(refused) > 0 {
		t.Errorf("the operator was refused something %d times, first: %s", len(refused), refused[0])
	}
}
