// SPDX-License-Identifier: Apache-2.0

// Package fields tests that every field of a kind does something: each is changed,
// and what is made of it then is another, in the places that a table names and in no
// others. So a field that is accepted and not applied fails.
package fields
