// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// VolumeRetention says what becomes of validators' disks when their network is
// deleted.
// +kubebuilder:validation:Enum=Delete;Retain
type VolumeRetention string

const (
	// VolumeRetentionDelete deletes the disks, the keys and the genesis document
	// with the network.
	VolumeRetentionDelete VolumeRetention = "Delete"
	// VolumeRetentionRetain keeps the disks, the keys and the genesis document: a
	// network of the same name and plan goes on from where this one was.
	VolumeRetentionRetain VolumeRetention = "Retain"
)

// VolumeSpec is the disk of each validator: of an existing storage class, or
// with given performance, for which a class is made. Disks may grow, and nothing
// else of them changes.
// +kubebuilder:validation:XValidation:rule="!has(self.storageClassName) || !has(self.iops)",message="cannot be set together with storageClassName, which already decides it",fieldPath=".iops",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.storageClassName) || !has(self.throughputMebibytesPerSecond)",message="cannot be set together with storageClassName, which already decides it",fieldPath=".throughputMebibytesPerSecond",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="string(self.size).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self.size)) || !isQuantity(string(oldSelf.size)) || quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) >= 0",fieldPath=".size",messageExpression="'must be at least %s, which it is: disks grow and never shrink'.format([string(oldSelf.size)])",message="cannot become less: disks grow and never shrink",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",fieldPath=".storageClassName",message="cannot change: a validator keeps the disk it started with",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="has(self.iops) == has(oldSelf.iops) && (!has(self.iops) || self.iops == oldSelf.iops)",fieldPath=".iops",message="cannot change: a validator keeps the disk it started with",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="has(self.throughputMebibytesPerSecond) == has(oldSelf.throughputMebibytesPerSecond) && (!has(self.throughputMebibytesPerSecond) || self.throughputMebibytesPerSecond == oldSelf.throughputMebibytesPerSecond)",fieldPath=".throughputMebibytesPerSecond",message="cannot change: a validator keeps the disk it started with",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="has(self.roles) == has(oldSelf.roles) && (!has(self.roles) || self.roles.size() == oldSelf.roles.size() && self.roles.all(r, oldSelf.roles.exists(o, o.role == r.role)))",fieldPath=".roles",message="cannot be added or removed: a validator keeps the disk it started with",reason="FieldValueForbidden"
type VolumeSpec struct {
	// size is the size of the disk: "1Gi" to "64Ti". It may grow where the storage
	// class lets it, and never shrinks.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('1Gi')) >= 0 && quantity(string(self)).compareTo(quantity('64Ti')) <= 0",message="must be between 1Gi and 64Ti",reason="FieldValueInvalid"
	Size resource.Quantity `json:"size"`

	// storageClassName is an existing storage class. Without it and without a
	// wanted performance, the cluster's default class is taken.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	StorageClassName string `json:"storageClassName,omitempty"`

	// iops is the provisioned number of I/O operations per second.
	// +optional
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=1000000
	IOPS int32 `json:"iops,omitempty"`

	// throughputMebibytesPerSecond is the provisioned throughput.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	ThroughputMebibytesPerSecond int32 `json:"throughputMebibytesPerSecond,omitempty"`

	// retention says what becomes of the disks when the network is deleted.
	// +optional
	// +kubebuilder:default=Delete
	Retention VolumeRetention `json:"retention,omitempty"`

	// roles are the disks of the nodes of a role, in the place of what all have.
	// Whether they stay with the network's is as for all.
	// +optional
	// +listType=map
	// +listMapKey=role
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Roles []RoleVolume `json:"roles,omitempty"`
}

// RoleVolume is the disk of each node of a role. Nothing is taken from spec.volume
// then.
// +kubebuilder:validation:XValidation:rule="!has(self.storageClassName) || !has(self.iops)",message="cannot be set together with storageClassName, which already decides it",fieldPath=".iops",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.storageClassName) || !has(self.throughputMebibytesPerSecond)",message="cannot be set together with storageClassName, which already decides it",fieldPath=".throughputMebibytesPerSecond",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="string(self.size).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self.size)) || !isQuantity(string(oldSelf.size)) || quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) >= 0",fieldPath=".size",messageExpression="'must be at least %s, which it is: disks grow and never shrink'.format([string(oldSelf.size)])",message="cannot become less: disks grow and never shrink",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",fieldPath=".storageClassName",message="cannot change: a validator keeps the disk it started with",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="has(self.iops) == has(oldSelf.iops) && (!has(self.iops) || self.iops == oldSelf.iops)",fieldPath=".iops",message="cannot change: a validator keeps the disk it started with",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="has(self.throughputMebibytesPerSecond) == has(oldSelf.throughputMebibytesPerSecond) && (!has(self.throughputMebibytesPerSecond) || self.throughputMebibytesPerSecond == oldSelf.throughputMebibytesPerSecond)",fieldPath=".throughputMebibytesPerSecond",message="cannot change: a validator keeps the disk it started with",reason="FieldValueForbidden"
type RoleVolume struct {
	// role is the role of the nodes.
	// +required
	Role NodeRole `json:"role,omitempty"`

	// size is the size of the disk: "1Gi" to "64Ti". It may grow where the storage
	// class lets it, and never shrinks.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('1Gi')) >= 0 && quantity(string(self)).compareTo(quantity('64Ti')) <= 0",message="must be between 1Gi and 64Ti",reason="FieldValueInvalid"
	Size resource.Quantity `json:"size"`

	// storageClassName is an existing storage class. Without it and without a
	// wanted performance, the cluster's default class is taken.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	StorageClassName string `json:"storageClassName,omitempty"`

	// iops is the provisioned number of I/O operations per second.
	// +optional
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=1000000
	IOPS int32 `json:"iops,omitempty"`

	// throughputMebibytesPerSecond is the provisioned throughput.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	ThroughputMebibytesPerSecond int32 `json:"throughputMebibytesPerSecond,omitempty"`
}
