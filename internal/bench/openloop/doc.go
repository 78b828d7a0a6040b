// SPDX-License-Identifier: Apache-2.0

// Package openloop makes the record of what clients saw of a chain from the
// documents of their loaders, and holds it against finalised blocks.
package openloop
