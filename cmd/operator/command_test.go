// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"
	"testing"
)

func TestWrongOptions(t *testing.T) {
	t.Parallel()
	for arguments, says := range map[string]string{
		"--node-image=x --library-metrics=Aggregate": `--library-metrics: "Aggregate" is none of Drop, Keep`,
		"--node-image=x --watch-namespace=": `--watch-namespace: "" is no name of a namespace: ` +
			`a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ` +
			`and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', ` +
			`regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
		"--node-image=x --log-level=loud": `--log-level: "loud" is none of error, warn, info, debug`,
	} {
		command := newCommand()
		command.SetArgs(strings.Fields(arguments))
		command.SetErr(io.Discard)
		if err := command.ExecuteContext(t.Context()); err == nil || err.Error() != says {
			t.Errorf("%s: %v, want %s", arguments, err, says)
		}
	}
}

// Of several operators in a cluster, only one that may run agents says anything of
// NodeTunings.
func TestWhoKeepsTunings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options options
		want    bool
	}{
		"of all namespaces":                  {options{}, true},
		"of all namespaces, with agents":     {options{tuningNamespace: "tuning"}, true},
		"of some namespaces":                 {options{watchNamespaces: []string{"a"}}, false},
		"of some namespaces, and has agents": {options{watchNamespaces: []string{"a"}, tuningNamespace: "tuning"}, true},
	} {
		if got := test.options.keepsTunings(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
