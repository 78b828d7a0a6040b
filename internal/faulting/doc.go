// SPDX-License-Identifier: Apache-2.0

// Package faulting has a fault happen to a network that runs, watches the network
// before, during and after it, and has package fault judge what was seen. How
// validators are reached is for whoever runs them to say: an Actor.
package faulting
