// SPDX-License-Identifier: Apache-2.0

// Package cost estimates what a network costs on Google Cloud, from its plan
// and a dated file of prices, and compares that with its budget. It is pure.
//
// What has no known price, or is not in the manifest, is an unknown part of the
// estimate and never zero.
package cost
