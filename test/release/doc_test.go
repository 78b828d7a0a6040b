// SPDX-License-Identifier: Apache-2.0

// Package release_test makes releases of this tree, compares two of one commit,
// and uses what is in them as whoever has nothing else. It also checks that
// Docker has what it builds images from.
//
// The node is left out, which takes minutes to build: make release-compare has
// it as well. HELM names the helm program, KUBEBUILDER_ASSETS the folder of the
// API server and etcd, and REGISTRY the registry that charts are pushed to.
package release_test
