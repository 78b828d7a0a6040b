// SPDX-License-Identifier: Apache-2.0

// Package reporting says what controllers found: it writes the status of an object,
// makes events of what became of it, and cuts their words to what the API server takes.
// It also says of which version they are, and which kinds they are refused.
package reporting
