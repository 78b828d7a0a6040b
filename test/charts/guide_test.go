// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

func readGuide(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// follow runs the commands that the guide has below a heading, and returns what
// they print.
func (v *versions) follow(t *testing.T, heading string) string {
	t.Helper()
	kubectl := os.Getenv("KUBECTL")
	if kubectl == "" {
		t.Fatal("KUBECTL is not set: make test-charts sets it")
	}
	block := regexp.MustCompile("(?s)\n#+ " + regexp.QuoteMeta(heading) + "\n[^#]*?```sh\n(.*?)```").FindStringSubmatch(v.guide)
	if block == nil {
		t.Fatalf("the guide has no commands below %q", heading)
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block[1])
	command.Env = []string{
		"HOME=" + v.home, "KUBECONFIG=" + v.kubeconfig(), "PATH=" + filepath.Dir(kubectl) + ":" + os.Getenv("PATH"),
	}
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", block[1], err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String()
}
