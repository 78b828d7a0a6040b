// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// apply replaces the table in one transaction.
func apply(ctx context.Context, rules string) error {
	command := exec.CommandContext(ctx, "nft", "--file", "-")
	command.Stdin = strings.NewReader(rules)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("replace the rules: %w: %s", err, stderr.Bytes())
	}
	return nil
}

// table renders the rules: chains of the isolated pods, and the chain that
// sends their traffic there.
func table(chains []chain) string {
	var text strings.Builder
	// Deleting a table that is not there would fail.
	text.WriteString("table inet netpol\ndelete table inet netpol\ntable inet netpol {\n")
	for _, chain := range chains {
		fmt.Fprintf(&text, "\tchain %s {\n", chain.name())
		for _, match := range chain.allowed {
			fmt.Fprintf(&text, "\t\t%s\n", strings.TrimSpace(match+" return"))
		}
		text.WriteString("\t\tdrop\n\t}\n")
	}
	text.WriteString("\tchain forward {\n\t\ttype filter hook forward priority filter\n")
	text.WriteString("\t\tct state established,related accept\n")
	for _, chain := range chains {
		fmt.Fprintf(&text, "\t\tip %s %s jump %s\n", chain.direction.own(), chain.address, chain.name())
	}
	text.WriteString("\t}\n}\n")
	return text.String()
}

// chain is what one isolated pod may receive or send.
type chain struct {
	direction direction
	address   string
	// allowed are the matches of the traffic that may pass.
	allowed []string
}

func (c chain) name() string {
	return string(c.direction) + "_" + strings.ReplaceAll(c.address, ".", "_")
}

type direction string

const (
	ingress direction = "ingress"
	egress  direction = "egress"
)

// own and peer are where a packet has the pod's address and the other one.
func (d direction) own() string {
	if d == ingress {
		return "daddr"
	}
	return "saddr"
}

func (d direction) peer() string {
	if d == ingress {
		return "saddr"
	}
	return "daddr"
}
