// SPDX-License-Identifier: Apache-2.0

package control

const (
	// meanBlocks is how many target block times the mean of what is executed is of:
	// enough that a block that is late does not make it look like less.
	meanBlocks = 20

	// mostBlocks is in how many target block times it is forgotten how much a chain
	// has executed.
	mostBlocks = 100
)

// carried is what a chain has executed lately, in transfers per second.
type carried struct {
	mean, most float64
}

// add takes what was executed within a window, and the target block times since the
// one before.
func (c *carried) add(executed, elapsed float64) {
	c.mean += (executed - c.mean) * min(1, elapsed/meanBlocks)
	c.most = max(c.mean, c.most*(1-min(1, elapsed/mostBlocks)))
}
