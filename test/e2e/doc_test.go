// SPDX-License-Identifier: Apache-2.0

// Package e2e_test runs networks on a real Kubernetes, from helm install to an
// empty machine.
//
// It starts the development cluster of hack/devcluster and takes it down again.
// HELM, KUBECTL and KUBE_STATE_METRICS name these programs; bin/images holds the archives of the
// images; make e2e sees to all of it. With KEEP set, the cluster stays up, and
// the next run takes it as it is.
package e2e_test
