// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// PodTemplate is what the pods of the validators have besides what the operator
// gives them. Nothing of it replaces anything of the operator's: what would is
// refused.
// +kubebuilder:validation:MinProperties=1
type PodTemplate struct {
	// metadata is what the pods are known by.
	// +optional
	Metadata *PodTemplateMetadata `json:"metadata,omitempty"`

	// spec says where the pods run, and with what rights to images and machines.
	// +optional
	Spec *PodTemplateSpec `json:"spec,omitempty"`
}

// PodTemplateMetadata are labels and annotations.
// +kubebuilder:validation:MinProperties=1
type PodTemplateMetadata struct {
	// labels are labels of the pods, such as a team's name. Those of shardyard.dev
	// and app.kubernetes.io are the operator's.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !format.labelValue().validate(self[k]).hasValue())",message="must be labels: a qualified name, and a value of at most 63 letters, digits, '-', '_' and '.'",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('shardyard.dev/') || k.startsWith('app.kubernetes.io/'))",message="must not begin with shardyard.dev/ or app.kubernetes.io/: these are the operator's",reason="FieldValueForbidden"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// annotations are annotations of the pods, such as those that a log collector
	// reads. Those of shardyard.dev are the operator's.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue())",message="must have qualified names, such as example.com/owner",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('shardyard.dev/'))",message="must not begin with shardyard.dev/: these are the operator's",reason="FieldValueForbidden"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
}

// PodTemplateSpec are fields of a pod, with the names and the meaning that they
// have there.
// +kubebuilder:validation:MinProperties=1
type PodTemplateSpec struct {
	// imagePullSecrets are the Secrets, in the network's namespace of every
	// cluster, by which the image of the nodes is pulled.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []ImagePullSecret `json:"imagePullSecrets,omitempty"`

	// nodeSelector are labels that a machine must have. Those that
	// spec.placement is about are left to it.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !format.labelValue().validate(self[k]).hasValue())",message="must be labels: a qualified name, and a value of at most 63 letters, digits, '-', '_' and '.'",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="!('node.kubernetes.io/instance-type' in self)",message="must leave node.kubernetes.io/instance-type to spec.placement.machineType",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!('topology.kubernetes.io/region' in self)",message="must leave topology.kubernetes.io/region to spec.regions and spec.placement.regionAffinity",reason="FieldValueForbidden"
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`

	// tolerations are the taints of machines that the pods put up with, besides
	// those that spec.placement is about. tolerationSeconds needs spec.volume: a pod
	// without a disk that is deleted loses all that it holds.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// priorityClassName is the priority class of the pods.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// runtimeClassName is the runtime class of the pods.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// schedulerName is the scheduler of the pods. Without it, it is the cluster's
	// default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	SchedulerName string `json:"schedulerName,omitempty"`

	// topologySpreadConstraints spread the pods over parts of a cluster, such as
	// its zones.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	TopologySpreadConstraints []TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
}

// ImagePullSecret names a Secret.
type ImagePullSecret struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
}

// TolerationOperator says how a toleration compares with taints.
// +kubebuilder:validation:Enum=Equal;Exists
type TolerationOperator string

const (
	// TolerationEqual tolerates taints of a key and a value.
	TolerationEqual TolerationOperator = "Equal"
	// TolerationExists tolerates taints of a key, whatever their value, and without
	// a key all of them.
	TolerationExists TolerationOperator = "Exists"
)

// TaintEffect is what a taint does to pods that do not tolerate it.
// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
type TaintEffect string

// Toleration is a taint of machines that pods put up with.
// +kubebuilder:validation:XValidation:rule="self.operator == 'Exists' || has(self.key)",message="is required where operator is Equal",fieldPath=".key",reason="FieldValueRequired"
// +kubebuilder:validation:XValidation:rule="self.operator == 'Equal' || !has(self.value)",message="must not be set where operator is Exists",fieldPath=".value",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",message="needs the effect NoExecute",fieldPath=".tolerationSeconds",reason="FieldValueForbidden"
type Toleration struct {
	// key is the key of the taint. Without it, every taint is tolerated.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key,omitempty"`

	// operator says how value compares with the taint's.
	// +optional
	// +kubebuilder:default=Equal
	Operator TolerationOperator `json:"operator,omitempty"`

	// value is the value of the taint.
	// +optional
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
	Value LabelValue `json:"value,omitempty"`

	// effect is that of the taint. Without it, every effect is tolerated.
	// +optional
	Effect TaintEffect `json:"effect,omitempty"`

	// tolerationSeconds is how long a pod stays on a machine that gets the taint.
	// Without it, it stays for good.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

// WhenUnsatisfiable says what becomes of a pod that cannot be spread.
// +kubebuilder:validation:Enum=DoNotSchedule;ScheduleAnyway
type WhenUnsatisfiable string

// TopologySpreadConstraint spreads validators over parts of a cluster.
type TopologySpreadConstraint struct {
	// topologyKey is the label whose value says which part a machine is in, such
	// as topology.kubernetes.io/zone.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	TopologyKey string `json:"topologyKey,omitempty"`

	// maxSkew is by how many pods two parts may differ.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxSkew int32 `json:"maxSkew,omitempty"`

	// whenUnsatisfiable says what becomes of a pod that cannot be spread.
	// +required
	WhenUnsatisfiable WhenUnsatisfiable `json:"whenUnsatisfiable,omitempty"`

	// matchLabelKeys are labels whose value the pods that are counted have in
	// common: those of one shard with shardyard.dev/shard. Without it, all
	// validators of the network are counted.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	MatchLabelKeys []string `json:"matchLabelKeys,omitempty"`
}
