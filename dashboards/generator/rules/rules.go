// SPDX-License-Identifier: Apache-2.0

// Package rules are the alerts of networks, benchmarks, faults and the operator, and
// the recording rules that they share, in the form that Prometheus reads.
//
// An alert is what somebody has to act on: each has a page in docs/runbooks. It
// uses only what nodes, kube-state-metrics with the configuration of this
// repository, the operator and kubelets export. What is fast or slow is measured
// in the network's own block time, and every window holds several of its blocks.
// What most nodes say counts: neither a node that hangs nor one that catches up
// moves a median.
//
// Series of networks on Kubernetes have a label namespace, others have none, and
// every expression groups by it: grouped by a label that is not there, series
// stay as they are. An alert has no label that changes while its cause lasts, or
// it would begin anew.
package rules

import (
	"fmt"
	"strings"
	"unicode"
)

// How soon somebody has to act.
const (
	// critical: the chain stands still, in whole or in part, or cannot be trusted.
	critical = "critical"
	// warning: it will, or it is slower than it should be, or nobody looks after it.
	warning = "warning"
)

// runbooks is where the pages of the alerts are.
const runbooks = "https://github.com/shardyard/shardyard/blob/main/docs/runbooks/"

// prefix is what the name of every alert begins with.
const prefix = "Shardyard"

// File is a file of rules.
type File struct {
	Groups []Group `yaml:"groups"`
}

// Group is a list of rules that are evaluated one after the other: those that
// record before those that use what is recorded.
type Group struct {
	Name  string `yaml:"name"`
	Rules []Rule `yaml:"rules"`
}

// Rule records a series, or is an alert.
type Rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// All are all rules.
func All() File {
	return File{[]Group{
		{"shardyard-recorded", recorded()},
		{"shardyard-chain", chain()},
		{"shardyard-nodes", nodes()},
		{"shardyard-networks", networks()},
		{"shardyard-operator", operator()},
		{"shardyard-benchmarks", benchmarks()},
		{"shardyard-schedules", schedules()},
		{"shardyard-faults", faults()},
	}}
}

// Runbook is the file of the page of an alert.
func Runbook(alert string) string {
	var name strings.Builder
	for i, letter := range strings.TrimPrefix(alert, prefix) {
		if unicode.IsUpper(letter) && i > 0 {
			name.WriteRune('-')
		}
		name.WriteRune(unicode.ToLower(letter))
	}
	return name.String() + ".md"
}

// alert is what differs between two alerts.
type alert struct {
	// name goes without the prefix.
	name, severity string
	// lasts is how long the expression has to hold; at once when empty.
	lasts string
	expr  string
	// summary is one line, description has the values and what they mean.
	summary, description string
}

func (a alert) rule() Rule {
	name := prefix + a.name
	return Rule{
		Alert:  name,
		Expr:   a.expr,
		For:    a.lasts,
		Labels: map[string]string{"severity": a.severity},
		Annotations: map[string]string{
			"summary":     a.summary,
			"description": a.description,
			"runbook_url": runbooks + Runbook(name),
		},
	}
}

func rulesOf(alerts ...alert) []Rule {
	rules := make([]Rule, 0, len(alerts))
	for _, alert := range alerts {
		rules = append(rules, alert.rule())
	}
	return rules
}

// What alerts are about, as their labels say it.
const (
	theNetwork = "network {{ $labels.network }}"
	theShard   = "shard {{ $labels.shard }} of " + theNetwork
	theNode    = "node {{ $labels.node }} of " + theNetwork
)

// perNetwork is what series of one network have in common, and perNode those of
// one node.
const (
	perNetwork = "namespace, network"
	perNode    = "namespace, network, region, node"
)

// most is what most nodes say.
func most(by, expression string) string {
	return fmt.Sprintf("quantile by (%s) (0.5, %s)", by, expression)
}
