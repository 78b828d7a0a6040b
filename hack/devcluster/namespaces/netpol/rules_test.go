// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func pod(namespace, name, node, address string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: node,
			Containers: []corev1.Container{{Ports: []corev1.ContainerPort{
				{Name: "web", ContainerPort: 8080}, {Name: "dns", ContainerPort: 53, Protocol: corev1.ProtocolUDP},
			}}},
		},
		Status: corev1.PodStatus{PodIP: address, Phase: corev1.PodRunning},
	}
}

func policy(t *testing.T, spec string) *networkingv1.NetworkPolicy {
	t.Helper()
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "policy"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &policy.Spec); err != nil {
		t.Fatal(err)
	}
	return policy
}

// shop is two pods of a namespace on two nodes, and one of another namespace.
func shop() *cluster {
	return &cluster{
		pods: []*corev1.Pod{
			pod("shop", "front", "node-1", "10.244.1.2"),
			pod("shop", "back", "node-2", "10.244.2.2"),
			pod("tools", "probe", "node-1", "10.244.1.3"),
		},
		namespaces: []*corev1.Namespace{
			{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
			{ObjectMeta: metav1.ObjectMeta{Name: "tools", Labels: map[string]string{"access": "allowed"}}},
		},
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec string
		// want are the matches of the traffic that pod front may receive or send.
		want map[direction][]string
	}{
		"nothing may come in": {
			spec: `{podSelector: {matchLabels: {app: front}}}`,
			want: map[direction][]string{ingress: {}},
		},
		"another pod is meant": {
			spec: `{podSelector: {matchLabels: {app: back}}}`,
			want: map[direction][]string{},
		},
		"all may come in": {
			spec: `{podSelector: {}, ingress: [{}]}`,
			want: map[direction][]string{ingress: {"ip saddr 0.0.0.0/0"}},
		},
		"pods of the policy's namespace": {
			spec: `{podSelector: {}, ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}]}`,
			want: map[direction][]string{ingress: {"ip saddr { 10.244.1.2, 10.244.2.2 } tcp dport 80"}},
		},
		"pods of labelled namespaces": {
			spec: `{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {access: allowed}}}]}]}`,
			want: map[direction][]string{ingress: {"ip saddr { 10.244.1.3 }"}},
		},
		"both selectors at once": {
			spec: `{podSelector: {}, ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: {app: back}}}]}]}`,
			want: map[direction][]string{ingress: {"ip saddr { 10.244.2.2 }"}},
		},
		"a selector that nothing has": {
			spec: `{podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: none}}}]}]}`,
			want: map[direction][]string{ingress: {}},
		},
		"a named port is the receiver's": {
			spec: `{podSelector: {}, ingress: [{ports: [{port: web}, {port: dns, protocol: UDP}, {port: none}]}]}`,
			want: map[direction][]string{ingress: {"ip saddr 0.0.0.0/0 tcp dport 8080", "ip saddr 0.0.0.0/0 udp dport 53"}},
		},
		"a range of ports and a protocol": {
			spec: `{podSelector: {}, ingress: [{ports: [{port: 80, endPort: 90}, {protocol: UDP}]}]}`,
			want: map[direction][]string{
				ingress: {"ip saddr 0.0.0.0/0 tcp dport 80-90", "ip saddr 0.0.0.0/0 meta l4proto udp"},
			},
		},
		"a block with a hole": {
			spec: `{podSelector: {}, egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]}], policyTypes: [Egress]}`,
			want: map[direction][]string{egress: {"ip daddr 10.0.0.0/8 ip daddr != { 10.1.0.0/16 }"}},
		},
		"a named port of whoever receives": {
			spec: `{podSelector: {}, egress: [{ports: [{port: web}]}], policyTypes: [Egress]}`,
			want: map[direction][]string{
				egress: {"ip daddr { 10.244.1.2, 10.244.1.3, 10.244.2.2 } tcp dport 8080"},
			},
		},
		"rules of egress isolate it without being asked to": {
			spec: `{podSelector: {}, egress: [{to: [{podSelector: {matchLabels: {app: back}}}]}]}`,
			want: map[direction][]string{ingress: {}, egress: {"ip daddr { 10.244.2.2 }"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := shop()
			state.policies = []*networkingv1.NetworkPolicy{policy(t, test.spec)}
			got, err := state.ruleset("node-1")
			if err != nil {
				t.Fatal(err)
			}
			var chains []chain
			for _, direction := range []direction{ingress, egress} {
				if allowed, isolated := test.want[direction]; isolated {
					chains = append(chains, chain{direction: direction, address: "10.244.1.2", allowed: allowed})
				}
			}
			if want := table(chains); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestPodsWithoutAnAddressInUseHaveNoRules(t *testing.T) {
	t.Parallel()
	state := shop()
	state.policies = []*networkingv1.NetworkPolicy{policy(t, `{podSelector: {}}`)}
	state.pods[0].Status.Phase = corev1.PodSucceeded
	got, err := state.ruleset("node-1")
	if err != nil {
		t.Fatal(err)
	}
	if want := table(nil); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	got := table([]chain{{direction: egress, address: "10.244.1.2", allowed: []string{"", "ip daddr 10.0.0.1"}}})
	want := `table inet netpol
delete table inet netpol
table inet netpol {
	chain egress_10_244_1_2 {
		return
		ip daddr 10.0.0.1 return
		drop
	}
	chain forward {
		type filter hook forward priority filter
		ct state established,related accept
		ip saddr 10.244.1.2 jump egress_10_244_1_2
	}
}
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWrongSelectorsAreNamed(t *testing.T) {
	t.Parallel()
	state := shop()
	state.policies = []*networkingv1.NetworkPolicy{policy(t,
		`{podSelector: {matchExpressions: [{key: app, operator: Like, values: [x]}]}}`)}
	_, err := state.ruleset("node-1")
	if err == nil || !strings.Contains(err.Error(), "network policy shop/policy") {
		t.Errorf("got %v, want an error that names the policy", err)
	}
}
