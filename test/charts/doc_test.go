// SPDX-License-Identifier: Apache-2.0

// Package charts_test renders the charts with helm, checks what comes out, and
// installs them on a real API server.
//
// HELM and KUBECTL name these programs, KUBEBUILDER_ASSETS the folder of the API
// server and etcd.
package charts_test
