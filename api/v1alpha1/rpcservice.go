// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// RPCServiceType says who can reach the Service of a network's HTTP API.
// +kubebuilder:validation:Enum=ClusterIP;LoadBalancer
type RPCServiceType string

const (
	// RPCServiceClusterIP is reached from within its cluster.
	RPCServiceClusterIP RPCServiceType = "ClusterIP"
	// RPCServiceLoadBalancer is reached from outside as well, by a load balancer of
	// the cluster's provider.
	RPCServiceLoadBalancer RPCServiceType = "LoadBalancer"
)

// RPCServiceSpec is the Service by which clients reach the nodes, NAME-rpc.
// +kubebuilder:validation:XValidation:rule="(self.type == 'LoadBalancer') == has(self.sourceRanges)",message="is required when type is LoadBalancer, and must not be set otherwise",fieldPath=".sourceRanges",reason="FieldValueInvalid"
type RPCServiceSpec struct {
	// type says who can reach the Service.
	// +optional
	// +kubebuilder:default=ClusterIP
	Type RPCServiceType `json:"type,omitempty"`

	// annotations are annotations of the Service, by which providers let their load
	// balancers be chosen. Those of shardyard.dev are the operator's.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue())",message="must have qualified names, such as example.com/owner",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('shardyard.dev/'))",message="must not begin with shardyard.dev/: these are the operator's",reason="FieldValueForbidden"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// sourceRanges are the addresses, as in 203.0.113.0/24, from which a load
	// balancer lets clients in, and the nodes as well.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="self.all(s, isCIDR(s) && cidr(s).masked() == cidr(s))",message="must be ranges of addresses, such as 203.0.113.0/24",reason="FieldValueInvalid"
	SourceRanges []string `json:"sourceRanges,omitempty"`
}
