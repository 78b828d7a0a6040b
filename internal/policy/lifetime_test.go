// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/test/networks"
)

// mortal is a network whose lifetime of two hours ends now.
func mortal(action v1alpha1.LifetimeAction) *v1alpha1.ShardNetwork {
	return &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(networks.Now.Add(-2 * time.Hour))},
		Spec: v1alpha1.ShardNetworkSpec{
			Lifetime: &v1alpha1.LifetimeSpec{DurationSeconds: 7200, Action: action},
		},
	}
}

func TestLifetime(t *testing.T) {
	t.Parallel()
	const seven = 7 * 24 * 3600
	cases := map[string]struct {
		seconds int32
		left    time.Duration
		ended   bool
		reason  string
	}{
		"long before":              {7200, time.Hour, false, v1alpha1.ReasonLifetimeRunning},
		"before the last tenth":    {7200, 12*time.Minute + time.Second, false, v1alpha1.ReasonLifetimeRunning},
		"in the last tenth":        {7200, 12 * time.Minute, false, v1alpha1.ReasonLifetimeEnding},
		"just before":              {7200, time.Nanosecond, false, v1alpha1.ReasonLifetimeEnding},
		"at the end":               {7200, 0, true, ""},
		"after":                    {7200, -24 * time.Hour, true, ""},
		"long life, last tenth":    {seven, 2 * time.Hour, false, v1alpha1.ReasonLifetimeRunning},
		"long life, the last hour": {seven, time.Hour, false, v1alpha1.ReasonLifetimeEnding},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := mortal(v1alpha1.LifetimeDelete)
			network.Spec.Lifetime.DurationSeconds = test.seconds
			end, ends := policy.EndOfLifetime(network)
			if want := network.CreationTimestamp.Add(time.Duration(test.seconds) * time.Second); !ends || !end.Equal(want) {
				t.Fatalf("the lifetime ends at %s (%v), want %s", end, ends, want)
			}
			at := end.Add(-test.left)
			if got := policy.LifetimeEnded(network, at); got != test.ended {
				t.Errorf("the lifetime has ended: %v, want %v", got, test.ended)
			}
			if test.ended {
				return
			}
			networks.CheckCondition(t, policy.WithinLifetime(network, at), metav1.ConditionTrue, test.reason, "the network is deleted at ")
		})
	}
}

func TestNoLifetime(t *testing.T) {
	t.Parallel()
	network := mortal(v1alpha1.LifetimeStop)
	network.Spec.Lifetime = nil
	if policy.LifetimeEnded(network, networks.Now.Add(1000*time.Hour)) {
		t.Error("a network without a lifetime ends")
	}
	networks.CheckCondition(t, policy.WithinLifetime(network, networks.Now), metav1.ConditionTrue, v1alpha1.ReasonNoLifetime,
		"until it is deleted")
}

// Nothing of a stopped network says that it runs, or that something is wrong.
func TestStopped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		running, unknown int
		reason           string
	}{{0, 0, v1alpha1.ReasonStopped}, {2, 0, v1alpha1.ReasonStopping}, {0, 2, v1alpha1.ReasonStopping}} {
		for _, got := range policy.Stopped(mortal(v1alpha1.LifetimeStop), test.running, test.unknown) {
			if got.Status == metav1.ConditionTrue || got.Reason != test.reason {
				t.Errorf("with %d nodes that run and %d unknown, %s is %s, %s; want the reason %s",
					test.running, test.unknown, got.Type, got.Status, got.Reason, test.reason)
			}
		}
	}
}
