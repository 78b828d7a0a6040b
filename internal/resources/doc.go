// SPDX-License-Identifier: Apache-2.0

// Package resources builds the Kubernetes objects of a network from its plan.
// It is pure: the same network and inputs always give the same objects, and
// nothing is read or applied.
package resources
