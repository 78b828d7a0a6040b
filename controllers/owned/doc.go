// SPDX-License-Identifier: Apache-2.0

// Package owned reads, applies and deletes the objects that belong to one object, and
// leaves alone what belongs to somebody else; and keeps an object until what it was kept
// for is done.
package owned
