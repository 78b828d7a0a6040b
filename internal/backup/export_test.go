// SPDX-License-Identifier: Apache-2.0

package backup

import "context"

// Claimed is a place where something happens between its claim and the first file.
func Claimed(place Place, then func()) Place { return &claimed{place, then} }

type claimed struct {
	Place

	then func()
}

func (c *claimed) claim(ctx context.Context) error {
	err := c.Place.claim(ctx)
	c.then()
	return err
}
