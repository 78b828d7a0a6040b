// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// newBackupRun is one whose bucket is a server's.
func newBackupRun() *resources.BackupRun {
	return &resources.BackupRun{
		Namespace: "default", ID: "r4nd0m", Image: "operator:test", SecretName: "writer", DeadlineSeconds: 3600,
		URL:  "s3://kept/net?endpoint=http://store.minio.svc:9000&region=x",
		Root: resources.RootOf(&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "root", UID: "uid"}}),
	}
}

// keepers are all pods of a run that have its program, by what they do.
func keepers(run *resources.BackupRun, fixture *fixture) map[string]*corev1.Pod {
	node := fixture.plan.Nodes[1]
	return map[string]*corev1.Pod{
		"keep-network": run.NewNetworkKeeper(fixture.network, fixture.plan),
		"keep-node":    run.NewNodeKeeper(fixture.network, node),
		"seal-backup":  run.NewSealer(fixture.network),
		"clear-backup": run.NewClearer(fixture.network),
		"serve-backup": run.NewContentsServer("hash"),
		"restore-node": run.NewNodeRestorer(fixture.network, node, nil),
	}
}

// The pods of backups meet the restricted profile, have no rights in the cluster, and end
// by themselves.
func TestPodSecurityOfBackups(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.MajorMinorVersion(1, 36)}
	run, fixture := newBackupRun(), everything(t)
	pods := keepers(run, fixture)
	pods["formats"] = run.NewFormatsProbe(fixture.network, "shardnode:test")
	for does, pod := range pods {
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec))
		if !result.Allowed {
			t.Errorf("%s violates %s", does, result.ForbiddenDetail())
		}
		if mounts := pod.Spec.AutomountServiceAccountToken; mounts == nil || *mounts {
			t.Errorf("%s has a token", does)
		}
		deadline := map[bool]int64{false: 3600, true: 1800}[does == "serve-backup"]
		if pod.Spec.RestartPolicy != corev1.RestartPolicyNever || ptr.Deref(pod.Spec.ActiveDeadlineSeconds, 0) != deadline {
			t.Errorf("%s goes on: %+v", does, pod.Spec)
		}
		if pod.Labels[resources.LabelNetwork] != "" || len(pod.OwnerReferences) != 1 || pod.OwnerReferences[0].Name != "root" {
			t.Errorf("%s is taken for one of the network: %+v", does, pod.ObjectMeta)
		}
		if pod.Spec.Containers[0].Args[0] != does {
			t.Errorf("%s has the arguments %q", does, pod.Spec.Containers[0].Args)
		}
	}
}

// Each pod has what it needs, and only what fills a disk writes anything.
func TestWhatPodsOfBackupsMount(t *testing.T) {
	t.Parallel()
	fixture := everything(t)
	node := fixture.plan.Nodes[1].Name
	head := "ConfigMap " + resources.BackupLockName(fixture.network.Name)
	for does, want := range map[string][]string{
		"keep-node":    {"claim data-" + node + "-0 at /var/lib/shardyard-backup/nodes/" + node + " read only"},
		"restore-node": {"claim data-" + node + "-0 at /var/lib/shardyard-backup"},
		"seal-backup":  {head + ": head.json at /var/lib/shardyard-backup read only"},
		"clear-backup": nil,
		"serve-backup": nil,
	} {
		pod := keepers(newBackupRun(), fixture)[does]
		if got := mountsOf(pod); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", does, got, want)
		}
		if got := credentialsOf(pod); !slices.Equal(got, []string{"env writer"}) {
			t.Errorf("%s has the credentials %v", does, got)
		}
	}
	got := mountsOf(keepers(newBackupRun(), fixture)["keep-network"])
	want := []string{
		head + ": manifest.yaml",
		"ConfigMap " + resources.GenesisName(fixture.network.Name) + ":",
		"Secret " + node + "-key: nodes/" + node + "/validator.key",
		"Secret " + resources.AdminTokenName(fixture.network.Name) + ": nodes/" + node + "/admin.token",
	}
	for _, file := range want {
		if !slices.ContainsFunc(got, func(mount string) bool { return strings.HasPrefix(mount, file) }) {
			t.Errorf("keep-network lacks %s: %q", file, got)
		}
	}
	if len(got) != 2+2*len(fixture.plan.Nodes) {
		t.Errorf("keep-network has %d files", len(got))
	}
}

// mountsOf are what a pod mounts, and where.
func mountsOf(pod *corev1.Pod) []string {
	var mounts []string
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		at := " at " + mount.MountPath
		if mount.ReadOnly {
			at += " read only"
		}
		for _, volume := range pod.Spec.Volumes {
			if volume.Name != mount.Name {
				continue
			}
			if volume.PersistentVolumeClaim != nil {
				mounts = append(mounts, "claim "+volume.PersistentVolumeClaim.ClaimName+at)
			}
			if volume.Projected == nil {
				continue
			}
			for _, source := range volume.Projected.Sources {
				mounts = append(mounts, filesOf(source)+at)
			}
		}
	}
	return mounts
}

// filesOf says which files a part of a volume has, if it names them.
func filesOf(source corev1.VolumeProjection) string {
	var name string
	var items []corev1.KeyToPath
	if source.ConfigMap != nil {
		name, items = "ConfigMap "+source.ConfigMap.Name+":", source.ConfigMap.Items
	} else {
		name, items = "Secret "+source.Secret.Name+":", source.Secret.Items
	}
	for _, item := range items {
		name += " " + item.Path
	}
	return name
}

// The policy closes the pods of its run, and only these, to everybody.
func TestThePolicyOfBackups(t *testing.T) {
	t.Parallel()
	run := newBackupRun()
	closed := run.NewPolicy()
	selector, err := metav1.LabelSelectorAsSelector(&closed.Spec.PodSelector)
	if err != nil {
		t.Fatal(err)
	}
	for does, pod := range keepers(run, everything(t)) {
		if !selector.Matches(labels.Set(pod.Labels)) {
			t.Errorf("%s is of no policy", does)
		}
	}
	if len(closed.Spec.Ingress) > 0 || !slices.Contains(closed.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
		t.Errorf("it lets in %+v", closed.Spec.Ingress)
	}
	if got, want := egressOf(closed), "*:9000/TCP *:53/UDP *:53/TCP"; got != want {
		t.Errorf("it reaches %s, want %s", got, want)
	}
	run.SecretName, run.URL, run.ServiceAccountName = "", "gs://kept", "uploads"
	if got, want := egressOf(run.NewPolicy()), "*:443/TCP *:53/UDP *:53/TCP 169.254.0.0/16:80/TCP 169.254.0.0/16:988/TCP"; got != want {
		t.Errorf("it reaches %s, want %s", got, want)
	}
	if pod := run.NewContentsServer("hash"); pod.Spec.ServiceAccountName != "uploads" || len(credentialsOf(pod)) > 0 {
		t.Errorf("it is of %q with %v", pod.Spec.ServiceAccountName, credentialsOf(pod))
	}
}

// The objects that are made before the network are those that the network would make, but
// that nobody owns them.
func TestRestoredObjects(t *testing.T) {
	t.Parallel()
	fixture := everything(t)
	sets := fixture.statefulSets(t)
	for i, node := range fixture.plan.Nodes {
		claim, template := resources.RestoredClaim(fixture.network, node), sets[i].Spec.VolumeClaimTemplates[0]
		if claim.Name != template.Name+"-"+sets[i].Name+"-0" || claim.Namespace != fixture.network.Namespace {
			t.Errorf("the claim is %s/%s", claim.Namespace, claim.Name)
		}
		if !equality.Semantic.DeepEqual(claim.Spec, template.Spec) || !equality.Semantic.DeepEqual(claim.Labels, template.Labels) {
			t.Errorf("the claim is %+v, want %+v", claim, template)
		}
		wanted, made := resources.NewKey(fixture.network, node, []byte("key")), resources.RestoredKey(fixture.network, node, []byte("key"))
		wanted.OwnerReferences = nil
		if !equality.Semantic.DeepEqual(made, wanted) {
			t.Errorf("the key is %+v, want %+v", made, wanted)
		}
	}
	if len(resources.RestoredGenesis(fixture.network, nil).OwnerReferences)+
		len(resources.RestoredAdminToken(fixture.network, "").OwnerReferences) > 0 {
		t.Error("something has an owner that is not there")
	}
	fixture.network.Spec.Volume = nil
	if claim := resources.RestoredClaim(fixture.network, fixture.plan.Nodes[0]); claim != nil {
		t.Errorf("without disks there is the claim %s", claim.Name)
	}
}

// A pod runs where its node may, since the disk may be of the machine alone, and apart
// from the disks that others have.
func TestWhereDisksAreRestored(t *testing.T) {
	t.Parallel()
	fixture := everything(t)
	busy := map[string]int{"one": 1, "two": 2}
	for i, set := range fixture.statefulSets(t) {
		for _, pod := range []*corev1.Pod{
			newBackupRun().NewNodeRestorer(fixture.network, fixture.plan.Nodes[i], busy),
			newBackupRun().NewNodeKeeper(fixture.network, fixture.plan.Nodes[i]),
		} {
			wanted := &set.Spec.Template.Spec
			if !equality.Semantic.DeepEqual(pod.Spec.NodeSelector, wanted.NodeSelector) ||
				!equality.Semantic.DeepEqual(pod.Spec.Tolerations, wanted.Tolerations) ||
				!equality.Semantic.DeepEqual(pod.Spec.ImagePullSecrets, wanted.ImagePullSecrets) ||
				*pod.Spec.SecurityContext.FSGroup != *wanted.SecurityContext.FSGroup ||
				*pod.Spec.SecurityContext.RunAsUser != *wanted.SecurityContext.RunAsUser {
				t.Errorf("%s runs elsewhere than its node: %+v", pod.GenerateName, pod.Spec)
			}
		}
	}
	for exclusivity, want := range map[v1alpha1.Exclusivity]string{
		v1alpha1.Shared:                 "avoids [one two], avoids [two]",
		v1alpha1.OneValidatorPerMachine: "never takes [one two], apart from nodes",
	} {
		fixture.network.Spec.Placement.Exclusivity = exclusivity
		pod := newBackupRun().NewNodeRestorer(fixture.network, fixture.plan.Nodes[0], busy)
		if got := avoided(pod.Spec.Affinity); got != want {
			t.Errorf("%s: it %s, want %s", exclusivity, got, want)
		}
	}
	fixture.network.Spec.Placement.Exclusivity = v1alpha1.Shared
	if pod := newBackupRun().NewNodeRestorer(fixture.network, fixture.plan.Nodes[0], nil); pod.Spec.Affinity != nil {
		t.Errorf("the first one avoids %+v", pod.Spec.Affinity)
	}
}

// avoided says which machines a pod is kept away from.
func avoided(affinity *corev1.Affinity) string {
	var found []string
	machines := func(term corev1.NodeSelectorTerm) string {
		var names []string
		for _, field := range term.MatchFields {
			names = append(names, field.Values...)
		}
		return fmt.Sprint(names)
	}
	for _, term := range affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		found = append(found, "avoids "+machines(term.Preference))
	}
	if required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		found = append(found, "never takes "+machines(required.NodeSelectorTerms[0]))
	}
	if affinity.PodAntiAffinity != nil {
		found = append(found, "apart from nodes")
	}
	return strings.Join(found, ", ")
}

// Who has keys in memory has them for no longer than it takes to show them.
func TestDeadlinesOfBackups(t *testing.T) {
	t.Parallel()
	for deadline, want := range map[int64]int64{6 * 3600: 1800, 60: 60} {
		run := &resources.BackupRun{Namespace: "yard", ID: "7", DeadlineSeconds: deadline}
		if got := *run.NewContentsServer("hash").Spec.ActiveDeadlineSeconds; got != want {
			t.Errorf("of %d seconds, it may run %d, want %d", deadline, got, want)
		}
		if got := *run.NewClearer(&v1alpha1.ShardNetwork{}).Spec.ActiveDeadlineSeconds; got != deadline {
			t.Errorf("of %d seconds, others may run %d", deadline, got)
		}
	}
}
