// SPDX-License-Identifier: Apache-2.0

// Package charts_test renders the charts with helm and checks that API servers
// take what comes out.
//
// HELM names the helm program.
package charts_test
