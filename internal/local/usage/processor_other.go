// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package usage

// processor is not known elsewhere.
func (Reader) processor() string { return "" }
