// SPDX-License-Identifier: Apache-2.0

// Package recording records networks that somebody else runs and loads, and keeps
// the records of a benchmark's runs in a folder.
package recording
