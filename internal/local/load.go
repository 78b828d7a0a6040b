// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/shardyard/shardyard/internal/loading"

// newLoadDriver lets the producers of a group sign a load. Others may have told them
// another one before.
func newLoadDriver(group *group, load *loading.Load, told bool) *loading.Driver {
	options := loading.Options{
		Load:    load,
		Told:    told,
		Changed: group.changed,
		Announce: func(rate int64) {
			group.console.printf("load: %s", plural(rate, "transfer")+" per second")
		},
		Refused: func(validator string, err error) {
			group.console.printf("validator %s does not take its load: %v", validator, err)
		},
	}
	for _, supervisor := range group.supervisors {
		options.Nodes = append(options.Nodes, loading.Node{
			Validator: supervisor.node.validator,
			Client:    supervisor.client,
			Process: func() (int, bool) {
				state := supervisor.current()
				return state.starts, state.wasReady
			},
		})
	}
	return loading.NewDriver(options)
}
