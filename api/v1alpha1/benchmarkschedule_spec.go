// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ScheduleState says whether a schedule starts benchmarks.
// +kubebuilder:validation:Enum=Enabled;Suspended
type ScheduleState string

const (
	// ScheduleEnabled starts a benchmark at each time of the schedule.
	ScheduleEnabled ScheduleState = "Enabled"
	// ScheduleSuspended starts none. One that is under way goes on. Times that pass
	// meanwhile are not made up for.
	ScheduleSuspended ScheduleState = "Suspended"
)

// ConcurrencyPolicy says what becomes of a time of the schedule at which an earlier
// benchmark of it is still under way.
// +kubebuilder:validation:Enum=Forbid
type ConcurrencyPolicy string

// ConcurrencyForbid starts no other one: that time is missed. Two that share machines
// would measure each other.
const ConcurrencyForbid ConcurrencyPolicy = "Forbid"

// BenchmarkScheduleSpec is which benchmark is started, and when.
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.baseline) || has(self.template.spec.variants) || has(self.template.spec.baseline.artifact) || self.successfulHistoryLimit > 0",message="must be at least 1: each benchmark is compared with the latest that succeeded and is kept",fieldPath=".successfulHistoryLimit",reason="FieldValueInvalid"
type BenchmarkScheduleSpec struct {
	// schedule is when a benchmark is started, as cron has it: minute, hour, day of the
	// month, month and day of the week, such as "30 2 * * *", or one of @hourly,
	// @daily, @weekly, @monthly and @yearly. An hour that a change of clocks leaves out
	// has no times, and one that it repeats has them twice: Etc/UTC has neither.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.startsWith('@') ? self in ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually'] : self.split(' ').size() == 5",message="must have the five fields of cron: minute, hour, day of the month, month and day of the week, with one space between; or be one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="self.startsWith('@') || self.split(' ').size() != 5 || self.split(' ')[0].split(',').all(p, p.matches('^([0-5]?[0-9](-[0-5]?[0-9])?|[*?])(/[1-9][0-9]?)?$'))",message="the first field, minutes, must be 0 to 59, or * for all, with ranges such as 1-5, lists such as 1,3 and steps such as */2",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="self.startsWith('@') || self.split(' ').size() != 5 || self.split(' ')[1].split(',').all(p, p.matches('^(([01]?[0-9]|2[0-3])(-([01]?[0-9]|2[0-3]))?|[*?])(/[1-9][0-9]?)?$'))",message="the second field, hours, must be 0 to 23, or * for all, with ranges such as 1-5, lists such as 1,3 and steps such as */2",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="self.startsWith('@') || self.split(' ').size() != 5 || self.split(' ')[2].split(',').all(p, p.matches('^((0?[1-9]|[12][0-9]|3[01])(-(0?[1-9]|[12][0-9]|3[01]))?|[*?])(/[1-9][0-9]?)?$'))",message="the third field, days of the month, must be 1 to 31, or * for all, with ranges such as 1-5, lists such as 1,3 and steps such as */2",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="self.startsWith('@') || self.split(' ').size() != 5 || self.split(' ')[3].split(',').all(p, p.matches('^((0?[1-9]|1[0-2]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))(-(0?[1-9]|1[0-2]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)))?|[*?])(/[1-9][0-9]?)?$'))",message="the fourth field, months, must be 1 to 12 or JAN to DEC, or * for all, with ranges such as 1-5, lists such as 1,3 and steps such as */2",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="self.startsWith('@') || self.split(' ').size() != 5 || self.split(' ')[4].split(',').all(p, p.matches('^(([0-6]|(?i:sun|mon|tue|wed|thu|fri|sat))(-([0-6]|(?i:sun|mon|tue|wed|thu|fri|sat)))?|[*?])(/[1-9][0-9]?)?$'))",message="the fifth field, days of the week, must be 0 for Sunday to 6 or SUN to SAT, or * for all, with ranges such as 1-5, lists such as 1,3 and steps such as */2",reason="FieldValueInvalid"
	Schedule string `json:"schedule,omitempty"`

	// timeZone is the time zone of schedule, by its name in the tz database, such as
	// Europe/Berlin.
	// +optional
	// +kubebuilder:default="Etc/UTC"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$') && self != 'Local'",message="must be the name of a time zone in the tz database, such as Etc/UTC or Europe/Berlin",reason="FieldValueInvalid"
	TimeZone string `json:"timeZone,omitempty"`

	// state says whether benchmarks are started.
	// +optional
	// +kubebuilder:default=Enabled
	State ScheduleState `json:"state,omitempty"`

	// concurrencyPolicy says what becomes of a time of the schedule at which an earlier
	// benchmark of it is still under way.
	// +optional
	// +kubebuilder:default=Forbid
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// startingDeadlineSeconds is how late a benchmark may be started, when the operator
	// was not there at its time. Of several times that passed, only the latest is made
	// up for; the others are missed.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	StartingDeadlineSeconds int32 `json:"startingDeadlineSeconds,omitempty"`

	// successfulHistoryLimit is how many benchmarks are kept that succeeded, with their
	// results: the latest ones.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=32
	SuccessfulHistoryLimit *int32 `json:"successfulHistoryLimit,omitempty"`

	// failedHistoryLimit is how many benchmarks are kept that failed or regressed, with
	// their results: the latest ones.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=32
	FailedHistoryLimit *int32 `json:"failedHistoryLimit,omitempty"`

	// template is the benchmark that is made.
	// +required
	Template BenchmarkTemplate `json:"template,omitzero"`
}

// BenchmarkTemplate is a benchmark that a schedule makes.
// +kubebuilder:validation:XValidation:rule="!has(self.spec.network.template) || !has(self.spec.network.template.spec.regions) || !self.spec.network.template.spec.regions.exists(r, has(r.cluster))",message="must all be in the operator's own cluster: a benchmark reaches no nodes elsewhere",fieldPath=".spec.network.template.spec.regions",reason="FieldValueForbidden"
type BenchmarkTemplate struct {
	// metadata is what each benchmark has besides its name.
	// +optional
	Metadata BenchmarkTemplateMetadata `json:"metadata,omitzero"`

	// spec is the spec of each benchmark. It cannot change: what the benchmarks of a
	// schedule came to compares.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: another experiment is another BenchmarkSchedule, so that the results of one compare",reason="FieldValueForbidden"
	Spec BenchmarkSpec `json:"spec,omitzero"`
}

// BenchmarkTemplateMetadata is metadata of benchmarks that a schedule makes.
type BenchmarkTemplateMetadata struct {
	// labels are labels of each benchmark, besides those that the operator sets.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('shardyard.dev/') && !k.startsWith('app.kubernetes.io/'))",message="must not begin with shardyard.dev/ or app.kubernetes.io/: these are the operator's",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !format.labelValue().validate(self[k]).hasValue())",message="must be labels: a qualified name, and a value of at most 63 letters, digits, '-', '_' and '.'",reason="FieldValueInvalid"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// annotations are annotations of each benchmark.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue())",message="must have qualified names, such as example.com/owner",reason="FieldValueInvalid"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
}

// LabelValue is the value of a label.
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// AnnotationValue is the value of an annotation.
// +kubebuilder:validation:MaxLength=1024
type AnnotationValue string
