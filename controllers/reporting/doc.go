// SPDX-License-Identifier: Apache-2.0

// Package reporting says what controllers found: it writes the status of an object,
// and cuts the words of an event to what the API server takes. It also says of which
// version they are.
package reporting
