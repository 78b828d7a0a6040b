// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/tuning"
	"github.com/shardyard/shardyard/test/fields"
)

const (
	// inAgents are the pods that run on machines, but for which machines these are and
	// what they set.
	inAgents fields.Effect = "agents"
	// inMachines is which machines agents run on.
	inMachines fields.Effect = "machines"
	// inSelection is which machines the operator takes for selected.
	inSelection fields.Effect = "selection"
	// inKernel is what machines have afterwards.
	inKernel fields.Effect = "kernel"
)

// Where changes of one kind are to be seen.
var (
	ofMachines    = []fields.Effect{inMachines, inSelection}
	ofTolerations = []fields.Effect{inMachines, inSelection}
	ofKernel      = []fields.Effect{inAgents, inKernel}
)

// tunings are all fields of a NodeTuning, and what they change.
var tunings = &fields.Kind[*v1alpha1.NodeTuning]{
	Definition: "shardyard.dev_nodetunings.yaml",
	Manifest: `
apiVersion: shardyard.dev/v1alpha1
kind: NodeTuning
metadata:
  name: whole
spec:
  nodeSelector: {pool: chain}
  tolerations: [{key: dedicated, operator: Equal, value: chain, effect: NoExecute, tolerationSeconds: 60}]
  settings:
    allowedCongestionControls: [bbr, cubic]
    congestionControl: bbr
    defaultQdisc: fq
    interfaceQdisc: fq
    netdevMaxBacklogPackets: 30000
    rmemMaxBytes: 134217728
    wmemMaxBytes: 134217728
    tcpMaxSynBacklog: 8096
    tcpMetricsSave: Disabled
    tcpMTUProbing: AfterBlackHole
    tcpRmem: {minBytes: 10240, defaultBytes: 87380, maxBytes: 134217728}
    tcpSlowStartAfterIdle: Disabled
    tcpWmem: {minBytes: 4096, defaultBytes: 87380, maxBytes: 134217728}
`,
	Read:    readTuning,
	Spec:    func(nodeTuning *v1alpha1.NodeTuning) any { return nodeTuning.Spec },
	Effects: effectsOf,
	Changes: map[string]fields.Change{
		"spec.nodeSelector":                     {To: fields.Object{"pool": "other"}, In: ofMachines},
		"spec.tolerations[].key":                {To: "other", In: ofTolerations},
		"spec.tolerations[].operator":           {Given: anyValue, To: "Exists", In: ofTolerations},
		"spec.tolerations[].value":              {To: "other", In: ofTolerations},
		"spec.tolerations[].effect":             {Given: forGood, To: "NoSchedule", In: ofTolerations},
		"spec.tolerations[].tolerationSeconds":  {To: 30, In: []fields.Effect{inMachines}},
		"spec.settings.congestionControl":       {To: "cubic", In: ofKernel},
		"spec.settings.defaultQdisc":            {To: "fq_codel", In: ofKernel},
		"spec.settings.interfaceQdisc":          {To: "fq_codel", In: ofKernel},
		"spec.settings.netdevMaxBacklogPackets": {To: 30001, In: ofKernel},
		"spec.settings.rmemMaxBytes":            {To: 134217729, In: ofKernel},
		"spec.settings.wmemMaxBytes":            {To: 134217729, In: ofKernel},
		"spec.settings.tcpMaxSynBacklog":        {To: 8097, In: ofKernel},
		"spec.settings.tcpMetricsSave":          {To: "Enabled", In: ofKernel},
		"spec.settings.tcpMTUProbing":           {To: "Always", In: ofKernel},
		"spec.settings.tcpSlowStartAfterIdle":   {To: "Enabled", In: ofKernel},
		"spec.settings.tcpRmem.minBytes":        {To: 10241, In: ofKernel},
		"spec.settings.tcpRmem.defaultBytes":    {To: 87381, In: ofKernel},
		"spec.settings.tcpRmem.maxBytes":        {To: 134217729, In: ofKernel},
		"spec.settings.tcpWmem.minBytes":        {To: 4097, In: ofKernel},
		"spec.settings.tcpWmem.defaultBytes":    {To: 87381, In: ofKernel},
		"spec.settings.tcpWmem.maxBytes":        {To: 134217729, In: ofKernel},
		"spec.settings.allowedCongestionControls": {
			To: []string{"bbr", "reno"}, In: ofKernel,
		},
	},
}

// Tolerations of a taint whatever its value, and of one for good.
var (
	anyValue = fields.Object{"spec.tolerations[0].value": fields.Without}
	forGood  = fields.Object{"spec.tolerations[0].tolerationSeconds": fields.Without}
)

// readTuning has an API server read a NodeTuning, and keep nothing of it.
func readTuning(t *testing.T, content []byte) (*v1alpha1.NodeTuning, error) {
	t.Helper()
	direct, err := client.New(apiServer, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	manifest := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &manifest.Object); err != nil {
		t.Fatal(err)
	}
	if err := direct.Create(t.Context(), manifest, client.DryRunAll); err != nil {
		return nil, err
	}
	read := &v1alpha1.NodeTuning{}
	return read, runtime.DefaultUnstructuredConverter.FromUnstructured(manifest.Object, read)
}

// effectsOf is all that the operator makes of a NodeTuning.
func effectsOf(t *testing.T, nodeTuning *v1alpha1.NodeTuning) map[fields.Effect]string {
	t.Helper()
	encoded, err := tuning.Encode(&nodeTuning.Spec.Settings)
	if err != nil {
		t.Fatal(err)
	}
	set := resources.NewTuningDaemonSet(nodeTuning, "tuning", "operator", encoded)
	pod := &set.Spec.Template.Spec
	machines := []any{pod.NodeSelector, pod.Tolerations}
	pod.NodeSelector, pod.Tolerations = nil, nil

	var selected []bool
	for _, pool := range []string{"chain", "other"} {
		for _, key := range []string{"dedicated", "other"} {
			for _, value := range []string{"", "chain", "other"} {
				for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule} {
					selected = append(selected, selects(nodeTuning, &corev1.Node{
						ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelOSStable: "linux", "pool": pool}},
						Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: key, Value: value, Effect: effect}}},
					}))
				}
			}
		}
	}
	return map[fields.Effect]string{
		inAgents: fields.Text(t, set), inMachines: fields.Text(t, machines), inSelection: fields.Text(t, selected),
		inKernel: fields.Text(t, tuning.Settings(&nodeTuning.Spec.Settings)),
	}
}

// Every field of the API does something.
func TestEveryFieldHasItsEffect(t *testing.T) {
	t.Parallel()
	tunings.CheckEffects(t)
}

// Every field that has a wrong value is named by the error about it.
func TestEveryFieldIsNamedWhereItIsWrong(t *testing.T) {
	t.Parallel()
	tunings.CheckErrors(t)
}

// Every setting is about another part of the kernel, and none is about nothing.
func TestEverySettingIsOneOfTheKernel(t *testing.T) {
	t.Parallel()
	whole, err := readTuning(t, []byte(tunings.Manifest))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, setting := range tuning.Settings(&whole.Spec.Settings) {
		part := strings.TrimSpace(string(setting.Kind) + " " + setting.Parameter)
		if other, ok := parts[part]; ok || setting.Value == "" {
			t.Errorf("%s sets %q of %s, which is %s", setting.Name, setting.Value, part, other)
		}
		parts[part] = setting.Name
	}
}
