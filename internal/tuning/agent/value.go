// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardyard/shardyard/internal/tuning"
)

// value is one value of the machine.
type value interface {
	// read says what the value is now.
	read() (string, error)
	// original says what is to be put back later, or why nothing could be.
	original() (string, error)
	// write sets the value. What it fails to set is as it was before.
	write(wanted string) error
	// restore puts an original back. What is gone meanwhile needs none.
	restore(original string) error
}

// identity tells a value from all others of its machine, also to an agent that
// runs later.
type identity struct {
	// Setting is the field of spec.settings that the value was set for.
	Setting string      `json:"setting"`
	Kind    tuning.Kind `json:"kind"`
	// Target is the sysctl or the interface.
	Target string `json:"target"`
}

func (i identity) String() string {
	switch i.Kind {
	case tuning.KindQdisc:
		return "the queueing discipline of " + i.Target
	default:
		return i.Target
	}
}

// machine gives access to the values of the machine.
type machine struct {
	// sysctls is where the machine's /proc/sys/net is.
	sysctls string
}

// value is the value of an identity.
func (m machine) value(identity identity) (value, error) {
	switch identity.Kind {
	case tuning.KindSysctl, tuning.KindSysctlSet:
		return newSysctl(m.sysctls, identity.Target)
	case tuning.KindQdisc:
		return interfaceQdisc{identity.Target}, nil
	default:
		return nil, fmt.Errorf("there is no kind of values %q", identity.Kind)
	}
}

// targets are what a setting is about on this machine now.
func (machine) targets(setting *tuning.Setting) ([]string, error) {
	switch setting.Kind {
	case tuning.KindQdisc:
		return defaultInterfaces()
	default:
		return []string{setting.Parameter}, nil
	}
}

// same compares two values of a kind.
func same(kind tuning.Kind, a, b string) bool {
	if kind != tuning.KindSysctlSet {
		return a == b
	}
	sorted := func(value string) []string {
		words := strings.Fields(value)
		slices.Sort(words)
		return words
	}
	return slices.Equal(sorted(a), sorted(b))
}
