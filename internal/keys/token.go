// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"crypto/rand"
	"encoding/hex"
)

const adminTokenBytes = 32

// NewAdminToken makes a new bearer token for the admin API of nodes.
func NewAdminToken() string {
	token := make([]byte, adminTokenBytes)
	// Read never returns an error: it crashes the program when the system has
	// no randomness to give.
	_, _ = rand.Read(token)
	return hex.EncodeToString(token)
}
