// SPDX-License-Identifier: Apache-2.0

// Package cost holds the prices that the Terraform module beside it and the
// estimates of networks are made from.
package cost

import _ "embed"

// Prices is the dated price file, in JSON.
//
//go:embed prices.json
var Prices []byte
