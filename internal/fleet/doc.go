// SPDX-License-Identifier: Apache-2.0

// Package fleet reaches the member clusters that networks span: clusters other
// than the operator's own, each named by a Secret with its kubeconfig. A member
// is started when a network first needs it and stopped when none does any more.
package fleet
