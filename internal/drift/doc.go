// SPDX-License-Identifier: Apache-2.0

// Package drift tells whether a cluster still has what was applied to it, so that
// what is as it should be costs no request. It goes by who owns a field, as
// server-side apply does: what others add is theirs, what they change is put
// right, and what the cluster itself made of a field when it was applied, by its
// defaults or its admission control, stays.
package drift
