// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/tuning"
)

func TestSettingsArriveAsTheyWereSent(t *testing.T) {
	t.Parallel()
	want := &v1alpha1.NodeTuningSettings{
		InterfaceQdisc: v1alpha1.QdiscFQ,
		TCPRmem:        &v1alpha1.BufferSizes{MinBytes: 10240, DefaultBytes: 87380, MaxBytes: 134217728},
	}
	encoded, err := tuning.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := parseSettings(encoded); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s comes to %+v, want %+v: %v", encoded, got, want, err)
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for encoded, want := range map[string]string{
		``:                    "EOF",
		`{"rmemMax":1}`:       `unknown field "rmemMax"`,
		`{"rmemMaxBytes":""}`: "rmemMaxBytes",
		`{} {}`:               "something follows",
	} {
		if _, err := parseSettings(encoded); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %q the error is %v, want one that says %q", encoded, err, want)
		}
	}
}
