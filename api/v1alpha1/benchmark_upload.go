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
	// request_checksum_calculation, ssetype and kmskeyid, each once. The parts of a prefix
	// have letters, digits, -_.~!$&()*+,:;=@, and others as %XX.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(s3|gs)://[a-z0-9][-_.a-z0-9]{1,220}[a-z0-9](/([-_.~!$&()*+,:;=@a-zA-Z0-9]|%[2-9A-Fa-f][0-9A-Fa-f])+)*/?([?][^#[:space:]]+)?$') && !self.matches('^[^?]*(/[.]{2}|%2[eEfF])') && !self.matches('^[^?]*/[.](/|[?]|$)')",message="must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="!self.contains('?') || self.matches('^s3://[^?]+[?](endpoint=https?(://|%3A%2F%2F)([-._a-zA-Z0-9:]|%(3A|5B|5D))+|kmskeyid=([-:/_a-zA-Z0-9]|%(3A|2F))+|region=[-a-zA-Z0-9]+|request_checksum_calculation=when_(required|supported)|ssetype=(AES256|aws(:|%3A)kms((:|%3A)dsse)?)|use_path_style=(true|false))(&(endpoint=https?(://|%3A%2F%2F)([-._a-zA-Z0-9:]|%(3A|5B|5D))+|kmskeyid=([-:/_a-zA-Z0-9]|%(3A|2F))+|region=[-a-zA-Z0-9]+|request_checksum_calculation=when_(required|supported)|ssetype=(AES256|aws(:|%3A)kms((:|%3A)dsse)?)|use_path_style=(true|false)))*$')",message="must have no parameters but endpoint, kmskeyid, region, request_checksum_calculation, ssetype and use_path_style, of s3, with values that these take",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="['endpoint', 'kmskeyid', 'region', 'request_checksum_calculation', 'ssetype', 'use_path_style'].all(p, !self.matches('[?&]' + p + '=.*&' + p + '='))",message="must have no parameter more than once",reason="FieldValueInvalid"
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
