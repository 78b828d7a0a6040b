// SPDX-License-Identifier: Apache-2.0

// Package diagnosis says why a node does not take part in its chain, and what to do about
// it, and which of a network's nodes needs a person most. It is pure.
package diagnosis
