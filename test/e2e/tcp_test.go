// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/resources"
)

// testTCP reads a setting inside a validator's pod, next to the validator. That
// all validators read back all settings is what the condition TCPTuned says.
func (n *network) testTCP(t *testing.T) {
	const setting = "/proc/sys/net/ipv4/tcp_congestion_control"
	pod := resources.PodName(n.plan(t).Nodes[0].Name)
	n.kubectl.mustRun(t, "--namespace", n.namespace, "debug", pod, "--container", "reader", "--image", toolboxImage,
		"--profile", "restricted", "--attach=false", "--", "/bin/sh", "-c", "cat "+setting)
	eventually(t, "the setting of "+pod, func(ctx context.Context) error {
		output, err := n.kubectl.run(ctx, "", "--namespace", n.namespace, "logs", pod, "--container", "reader")
		if err != nil {
			return err
		}
		if control := strings.TrimSpace(output); control != "bbr" {
			return fmt.Errorf("%s is %q, want bbr", setting, control)
		}
		return nil
	})
}
