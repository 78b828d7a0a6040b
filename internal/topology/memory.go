// SPDX-License-Identifier: Apache-2.0

package topology

import "fmt"

// CheckMemory refuses a network that begins with the data that nodes had, as has says, of
// whose producers so many would begin with nothing that they could make another chain.
func (p *Plan) CheckMemory(has func(node string) (bool, error)) error {
	producers, full := 0, 0
	for _, validator := range p.Nodes {
		if validator.Role != RoleProducer {
			continue
		}
		producers++
		there, err := has(validator.Name)
		if err != nil {
			return err
		}
		if there {
			full++
		}
	}
	if need := producers - (producers-1)/3; full < need {
		return fmt.Errorf("only %d of %d producers would have data, and the chain goes on with %d: "+
			"the others would begin it anew at genesis", full, producers, need)
	}
	return nil
}
