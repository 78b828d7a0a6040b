// SPDX-License-Identifier: Apache-2.0

// Package member holds what the operator may do in a member cluster.
package member

import _ "embed"

// Role is the account of the operator in a member cluster with its rights, in
// YAML, with @NAMESPACE@ for the name of the namespace.
//
//go:embed role.yaml
var Role []byte
