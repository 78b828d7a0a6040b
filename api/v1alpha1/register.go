// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "shardyard.dev", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Benchmark{},
		&BenchmarkList{},
		&BenchmarkSchedule{},
		&BenchmarkScheduleList{},
		&Fault{},
		&FaultList{},
		&NodeTuning{},
		&NodeTuningList{},
		&ShardNetwork{},
		&ShardNetworkList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
})

// AddToScheme adds the types of this package to a scheme.
var AddToScheme = schemeBuilder.AddToScheme
