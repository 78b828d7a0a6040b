// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ConditionStalled says that a network or a NodeTuning does not get ready unless
// somebody changes something: its spec, or what its message names. Alone among
// the conditions it is there only while it is True, which is how those who wait
// for any kind of object, such as helm, know to end. Its reason and message are
// those of the condition that is the cause.
const ConditionStalled = "Stalled"
