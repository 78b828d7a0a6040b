// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"os"
	"path/filepath"
	"testing"
)

const (
	operatorChart = "../../charts/shardyard"
	testnetChart  = "../../charts/testnet"
	samples       = "../../config/samples"
)

// render renders a chart as a release of a name that is no preset's.
func render(t *testing.T, chart string, arguments ...string) []byte {
	t.Helper()
	output, err := newHelm(t, nil).run(append([]string{"template", "test", chart}, arguments...)...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// writeValues writes a file of values and returns its path.
func writeValues(t *testing.T, values string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(path, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
