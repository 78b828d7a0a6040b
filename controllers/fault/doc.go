// SPDX-License-Identifier: Apache-2.0

// Package fault has each Fault happen to its network, once: it makes a pod beside the
// network that measures what comes of it, and takes what that pod says. Faults that nodes
// keep are begun and ended by the pod, and end by their own clocks whatever becomes of
// it; validators are killed by the operator, when the pod says that it is time. Each
// reconciliation is one step, which follows from the status and from the objects that
// there are. The status names the pod before it begins, and the pods that are killed
// before they are, so an operator that ends half-way has nothing happen twice.
package fault
