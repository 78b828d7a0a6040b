// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"strings"
)

// CheckMemory refuses a network that begins with the data that nodes had, as has says, of
// whose producers so many would begin with nothing that they could make another chain.
func (p *Plan) CheckMemory(has func(node string) (bool, error)) error {
	producers, full, err := p.producersThat(has)
	if err != nil {
		return err
	}
	if need := producers - (producers-1)/3; len(full) < need {
		return fmt.Errorf("only %d of %d producers would have data, and the chain goes on with %d: "+
			"the others would begin it anew at genesis", len(full), producers, need)
	}
	return nil
}

// CheckVotes refuses to have so many producers forget the votes that they gave since their
// data was kept that they could make a second chain, beside others that go on with theirs,
// as keeps says of a node. Where none does, the chain is as it was.
func (p *Plan) CheckVotes(keeps func(node string) (bool, error)) error {
	producers, keeping, err := p.producersThat(keeps)
	if err != nil {
		return err
	}
	forgetting, most := producers-len(keeping), (producers-1)/3
	if len(keeping) == 0 || forgetting <= most {
		return nil
	}
	return fmt.Errorf("%d of %d producers would forget votes, which is safe for %d beside others that go on with theirs (%s): "+
		"put back these as well, or not more than %d", forgetting, producers, most, strings.Join(keeping, ", "), most)
}

// producersThat counts the producers, and names those of which something holds.
func (p *Plan) producersThat(holds func(node string) (bool, error)) (producers int, names []string, err error) {
	for _, validator := range p.Nodes {
		if validator.Role != RoleProducer {
			continue
		}
		producers++
		held, err := holds(validator.Name)
		if err != nil {
			return 0, nil, err
		}
		if held {
			names = append(names, validator.Name)
		}
	}
	return producers, names, nil
}
