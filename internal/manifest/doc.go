// SPDX-License-Identifier: Apache-2.0

// Package manifest reads manifests the way the API server does.
//
// It holds no rules of its own. It takes the CustomResourceDefinition that the
// API server is given and runs the same library over it in the same order:
// strict decoding, pruning, defaulting, OpenAPI validation, list types, CEL
// rules. A manifest that is refused here is refused there, with the same paths
// and reasons.
package manifest
