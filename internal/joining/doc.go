// SPDX-License-Identifier: Apache-2.0

// Package joining lets networks in the operator's cluster use other clusters for their
// regions. In each, it makes an account of the operator with no more rights than
// config/member says, and beside the networks a Secret that holds how to reach it.
package joining
