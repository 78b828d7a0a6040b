// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// BenchmarkUpload is where the result of a benchmark is kept beside its volume, which
// goes with the benchmark. Credentials are those of the Secret, or what the cloud gives to
// the pods of a ServiceAccount, and on one machine those of the environment.
//
// +kubebuilder:validation:XValidation:rule="!has(self.secretName) || !has(self.serviceAccountName)",message="must not be set with secretName: one of both has the rights",fieldPath=".serviceAccountName",reason="FieldValueForbidden"
type BenchmarkUpload struct {
	// url is a place in a bucket, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX. The result is
	// in a folder below, by the name of the benchmark and the time at which it began, so
	// benchmarks may share a place. Credentials are not in it. That of s3 takes the
	// parameters region, endpoint for a server that is not Amazon's, use_path_style,
	// request_checksum_calculation, role, ssetype and kmskeyid.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(s3|gs)://[a-z0-9][-_.a-z0-9]{1,220}[a-z0-9](/[^/?#[:space:]]+)*/?([?][^#[:space:]]+)?$') && !self.matches('/[.]{1,2}(/|[?]|$)')",message="must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="!self.contains('?') || self.matches('^s3://[^?]+[?](endpoint|kmskeyid|region|request_checksum_calculation|role|ssetype|use_path_style)=[^&]+(&(endpoint|kmskeyid|region|request_checksum_calculation|role|ssetype|use_path_style)=[^&]+)*$')",message="must have no parameters but endpoint, kmskeyid, region, request_checksum_calculation, role, ssetype and use_path_style, of s3",reason="FieldValueInvalid"
	URL string `json:"url,omitempty"`

	// secretName is a Secret in the namespace of the benchmark with the credentials: for s3
	// the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for gs a
	// key of a service account as credentials.json. The pod that uploads has it, and no
	// other.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	SecretName string `json:"secretName,omitempty"`

	// serviceAccountName is a ServiceAccount in the namespace of the benchmark to whose pods
	// the cloud gives the right to write, without a Secret: the pod that uploads is of
	// it. Without it, that is of the namespace's default one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}
