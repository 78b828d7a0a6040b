// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/manifest"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/fields"
)

const (
	// inScope are the validators that the fault is of.
	inScope fields.Effect = "scope"
	// inOrders is what nodes are told of a fault that they keep.
	inOrders fields.Effect = "orders"
	// inPod is the pod that measures.
	inPod fields.Effect = "pod"
	// inObjects are all other objects, but for the copy of the spec that the pod reads.
	inObjects fields.Effect = "objects"
	// inMeasurement is what the pod reads of how long to measure.
	inMeasurement fields.Effect = "measurement"
	// inRefusal is why no cluster has it happen.
	inRefusal fields.Effect = "refusal"
	// inProgram is what takes the place of nodes on one machine.
	inProgram fields.Effect = "program"
)

// fourProducers is the network of the faults: two regions, and two producers of each of
// two shards.
func fourProducers() *v1alpha1.ShardNetwork {
	network := &v1alpha1.ShardNetwork{Spec: v1alpha1.ShardNetworkSpec{
		Shards: 2, ProducersPerShard: 2, ChunkValidators: 1,
		Regions: []v1alpha1.Region{{Name: "north", Nodes: 3}, {Name: "south", Nodes: 2}},
		Genesis: v1alpha1.GenesisSpec{AccountsPerShard: 100},
	}}
	network.Name, network.Namespace = "net", "chains"
	return network
}

// effectsOf is all that the operator and the pod make of a fault.
func effectsOf(t *testing.T, wanted *v1alpha1.Fault) map[fields.Effect]string {
	t.Helper()
	network := fourProducers()
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := fault.Select(&wanted.Spec.Validators, plan)
	if err != nil {
		t.Fatal(err)
	}
	orders, err := fault.OrdersInPods(&wanted.Spec, scope, plan)
	if err != nil {
		t.Fatal(err)
	}
	inputs := resources.FaultInputs{KeptByNodes: fault.PartInPod(&wanted.Spec) != ""}
	objects, err := resources.FaultObjects(wanted, network, plan.Ports, inputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if config, ok := object.(*corev1.ConfigMap); ok {
			config.Data = nil
		}
	}
	return map[fields.Effect]string{
		inScope:   fields.Text(t, scope),
		inOrders:  fields.Text(t, orders),
		inPod:     fields.Text(t, resources.NewWatcher(wanted, network, inputs)),
		inObjects: fields.Text(t, objects),
		inMeasurement: fields.Text(t, []int32{
			wanted.Spec.BaselineSeconds, wanted.Spec.DurationSeconds, wanted.Spec.RecoverySeconds,
		}),
		inRefusal: faultpolicy.Refused(wanted),
		inProgram: fields.Text(t, fault.ProgramOf(&wanted.Spec)),
	}
}

// Where changes of one kind are to be seen.
var (
	ofScope  = []fields.Effect{inScope, inOrders}
	ofOrders = []fields.Effect{inOrders}
	ofLength = []fields.Effect{inMeasurement, inPod}
)

// Faults of other actions, and of other validators, than those of the manifest.
var (
	loss  = fields.Object{"spec.action": "Loss", "spec.delay": fields.Without, "spec.loss": fields.Object{"basisPoints": 100}}
	wrong = fields.Object{
		"spec.action": "WrongClock", "spec.delay": fields.Without, "spec.wrongClock": fields.Object{"offsetMilliseconds": 100},
	}
	slow = fields.Object{"spec.action": "SlowDisk", "spec.delay": fields.Without, "spec.slowDisk": fields.Object{"milliseconds": 100}}
	liar = fields.Object{
		"spec.action": "Byzantine", "spec.delay": fields.Without,
		"spec.byzantine": fields.Object{"program": "shardnode-liar", "arguments": []string{"--planted-fault", "CreditedTwice"}},
	}
	crash = fields.Object{"spec.action": "Kill", "spec.delay": fields.Without, "spec.kill": fields.Object{"restart": "AtOnce"}}
)

// from is a partition from others.
func from(others fields.Object) fields.Object {
	return fields.Object{
		"spec.action": "Partition", "spec.delay": fields.Without, "spec.partition": fields.Object{"from": others},
	}
}

// apart has a fault be of the chunk validator alone.
func apart(fault fields.Object) fields.Object {
	fault["spec.validators"] = fields.Object{"role": "ChunkValidator"}
	return fault
}

// of is a fault of others.
func of(validators fields.Object) fields.Object { return fields.Object{"spec.validators": validators} }

var faults = &fields.Kind[*v1alpha1.Fault]{
	Definition: "shardyard.dev_faults.yaml",
	Manifest: `
apiVersion: shardyard.dev/v1alpha1
kind: Fault
metadata:
  name: whole
spec:
  networkName: net
  validators: {names: [net-s0-p0, net-s0-p1], count: 2}
  action: Delay
  delay: {milliseconds: 100}
  durationSeconds: 30
`,
	Read: func(_ *testing.T, content []byte) (*v1alpha1.Fault, error) {
		return manifest.ParseFault(content)
	},
	Spec:    func(wanted *v1alpha1.Fault) any { return wanted.Spec },
	Effects: effectsOf,
	Changes: map[string]fields.Change{
		"spec.networkName":                   {To: "other", In: []fields.Effect{inPod, inObjects}},
		"spec.validators.names":              {To: []string{"net-s0-p0", "net-s1-p0"}, In: ofScope},
		"spec.validators.region":             {Given: of(fields.Object{"region": "north"}), To: "south", In: ofScope},
		"spec.validators.shard":              {Given: of(fields.Object{"shard": 0}), To: 1, In: ofScope},
		"spec.validators.role":               {Given: of(fields.Object{"role": "Producer"}), To: "ChunkValidator", In: ofScope},
		"spec.validators.count":              {To: 1, In: ofScope},
		"spec.delay.milliseconds":            {To: 200, In: ofOrders},
		"spec.loss.basisPoints":              {Given: loss, To: 200, In: ofOrders},
		"spec.slowDisk.milliseconds":         {Given: slow, To: 200, In: ofOrders},
		"spec.wrongClock.offsetMilliseconds": {Given: wrong, To: -100, In: ofOrders},
		"spec.byzantine.program":             {Given: liar, To: "shardnode-other", In: []fields.Effect{inOrders, inProgram}},
		"spec.byzantine.arguments":           {Given: liar, To: []string{"--planted-fault", "Lost"}, In: []fields.Effect{inOrders, inProgram}},
		"spec.kill.restart":                  {Given: crash, To: "AfterDuration", In: []fields.Effect{inOrders, inPod, inObjects}},
		"spec.baselineSeconds":               {To: 20, In: ofLength},
		"spec.recoverySeconds":               {To: 20, In: ofLength},
		"spec.durationSeconds":               {To: 20, In: []fields.Effect{inMeasurement, inPod, inOrders}},
		"spec.action": {
			Set: loss, Along: []string{"spec.delay.milliseconds", "spec.loss.basisPoints"}, In: ofOrders,
		},
		"spec.partition.from.names": {
			Given: from(fields.Object{"names": []string{"net-s1-p0"}}), To: []string{"net-s1-p1"}, In: ofOrders,
		},
		"spec.partition.from.region": {
			Given: from(fields.Object{"shard": 1, "region": "north"}), To: "south", In: ofOrders,
		},
		"spec.partition.from.shard": {
			Given: apart(from(fields.Object{"shard": 1})), To: 0, In: ofOrders,
		},
		"spec.partition.from.role": {
			Given: from(fields.Object{"names": []string{"net-s1-p0", "net-v0"}, "role": "Producer"}), To: "ChunkValidator", In: ofOrders,
		},
		"spec.partition.from.count": {Given: from(fields.Object{"shard": 1, "count": 2}), To: 1, In: ofOrders},
	},
}

// Every field of the API does something.
func TestEveryFieldHasItsEffect(t *testing.T) {
	t.Parallel()
	faults.CheckEffects(t)
}

// Every field that has a wrong value is named by the error about it.
func TestEveryFieldIsNamedWhereItIsWrong(t *testing.T) {
	t.Parallel()
	faults.CheckErrors(t)
}
