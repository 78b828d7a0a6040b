// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// RPCRouteType is a kind of object by which a cluster leads requests from outside to
// a Service.
// +kubebuilder:validation:Enum=Ingress;HTTPRoute
type RPCRouteType string

const (
	// RPCRouteIngress is an Ingress, of networking.k8s.io.
	RPCRouteIngress RPCRouteType = "Ingress"
	// RPCRouteHTTPRoute is an HTTPRoute, of gateway.networking.k8s.io.
	RPCRouteHTTPRoute RPCRouteType = "HTTPRoute"
)

// RPCRouteSpec is how requests of clients for some host names come to the Service of
// the rpc nodes: those for /rpc and /status, and no others.
// +kubebuilder:validation:XValidation:rule="!has(self.ingress) || self.type == 'Ingress'",message="must not be set unless type is Ingress",fieldPath=".ingress",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="(self.type == 'HTTPRoute') == has(self.httpRoute)",message="is required when type is HTTPRoute, and must not be set otherwise",fieldPath=".httpRoute",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="has(self.sourceNamespaces) || has(self.sourceRanges)",message="is required unless sourceRanges is set: the network policy lets in nobody who is not named",fieldPath=".sourceNamespaces",reason="FieldValueRequired"
type RPCRouteSpec struct {
	// type is the kind of object that is made. It is named NAME-rpc.
	// +required
	Type RPCRouteType `json:"type,omitempty"`

	// hostnames are the DNS names that clients ask for.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +kubebuilder:validation:XValidation:rule="self.all(h, !isIP(h))",message="must be DNS names, not addresses",reason="FieldValueInvalid"
	Hostnames []string `json:"hostnames,omitempty"`

	// annotations are annotations of the object, by which controllers are told what
	// else to do. Those of shardyard.dev are the operator's.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue())",message="must have qualified names, such as example.com/owner",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('shardyard.dev/'))",message="must not begin with shardyard.dev/: these are the operator's",reason="FieldValueForbidden"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// sourceNamespaces are the namespaces of the pods that hand the requests on, such
	// as that of an ingress controller. The network policy lets them reach the HTTP
	// API of the nodes.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	SourceNamespaces []string `json:"sourceNamespaces,omitempty"`

	// sourceRanges are the addresses, as in 203.0.113.0/24, of what hands the requests
	// on and is no pod with an address of its own, such as a provider's load balancer.
	// The network policy lets them reach the HTTP API of the nodes.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="self.all(s, isCIDR(s) && cidr(s).masked() == cidr(s))",message="must be ranges of addresses, such as 203.0.113.0/24",reason="FieldValueInvalid"
	SourceRanges []string `json:"sourceRanges,omitempty"`

	// ingress is what an Ingress has besides. Without it, it is of the cluster's
	// default class, and without TLS.
	// +optional
	Ingress *RPCIngress `json:"ingress,omitempty"`

	// httpRoute is what an HTTPRoute has besides.
	// +optional
	HTTPRoute *RPCHTTPRoute `json:"httpRoute,omitempty"`
}

// RPCIngress is what an Ingress has besides its host names.
// +kubebuilder:validation:MinProperties=1
type RPCIngress struct {
	// className is the IngressClass, which says whose controller answers. Without
	// it, it is the cluster's default class.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	ClassName string `json:"className,omitempty"`

	// tlsSecretName is the Secret, in the network's namespace, of the certificate for
	// all host names. Without it, requests are not encrypted.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	TLSSecretName string `json:"tlsSecretName,omitempty"`
}

// RPCHTTPRoute is what an HTTPRoute has besides its host names.
type RPCHTTPRoute struct {
	// parentRefs are the Gateways that requests come in by. Their listeners have the
	// certificates, and say which namespaces' routes they take.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(o, o == p))",message="must be different from each other",reason="FieldValueInvalid"
	ParentRefs []RPCGateway `json:"parentRefs,omitempty"`
}

// RPCGateway is a Gateway, or one of its listeners.
type RPCGateway struct {
	// name is the name of the Gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// namespace is that of the Gateway. Without it, it is the network's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`

	// sectionName is the listener of the Gateway. Without it, it is every listener
	// that takes the route.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	SectionName string `json:"sectionName,omitempty"`
}
