// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// cluster is everything that the rules depend on.
type cluster struct {
	pods       []*corev1.Pod
	namespaces []*corev1.Namespace
	policies   []*networkingv1.NetworkPolicy
}

// ruleset is the table for the pods of a node. The same cluster gives the same
// text.
func (c *cluster) ruleset(node string) (string, error) {
	slices.SortFunc(c.pods, func(a, b *corev1.Pod) int { return compare(a, b) })
	slices.SortFunc(c.policies, func(a, b *networkingv1.NetworkPolicy) int { return compare(a, b) })

	var chains []chain
	for _, pod := range c.pods {
		if pod.Spec.NodeName != node || !routed(pod) {
			continue
		}
		for _, direction := range []direction{ingress, egress} {
			isolated, allowed, err := c.allowed(pod, direction)
			if err != nil {
				return "", err
			}
			if isolated {
				chains = append(chains, chain{direction: direction, address: pod.Status.PodIP, allowed: allowed})
			}
		}
	}
	return table(chains), nil
}

func compare(a, b metav1.Object) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// routed tells whether a pod has an address of its own that is in use.
func routed(pod *corev1.Pod) bool {
	return !pod.Spec.HostNetwork && pod.Status.PodIP != "" &&
		pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// allowed are the matches of what the policies that isolate a pod in a
// direction let pass.
func (c *cluster) allowed(pod *corev1.Pod, direction direction) (isolated bool, matches []string, err error) {
	for _, policy := range c.policies {
		selected, err := selects(&policy.Spec.PodSelector, pod.Labels)
		if err != nil {
			return false, nil, fmt.Errorf("network policy %s/%s: %w", policy.Namespace, policy.Name, err)
		}
		if policy.Namespace != pod.Namespace || !selected || !covers(policy, direction) {
			continue
		}
		isolated = true
		for _, rule := range rulesOf(policy, direction) {
			peers, err := c.peers(policy.Namespace, rule, direction)
			if err != nil {
				return false, nil, fmt.Errorf("network policy %s/%s: %w", policy.Namespace, policy.Name, err)
			}
			matches = append(matches, rule.matches(pod, direction, peers)...)
		}
	}
	return isolated, matches, nil
}

// covers tells whether a policy isolates the pods it selects in a direction.
func covers(policy *networkingv1.NetworkPolicy, direction direction) bool {
	if len(policy.Spec.PolicyTypes) == 0 {
		return direction == ingress || len(policy.Spec.Egress) > 0
	}
	want := networkingv1.PolicyTypeIngress
	if direction == egress {
		want = networkingv1.PolicyTypeEgress
	}
	return slices.Contains(policy.Spec.PolicyTypes, want)
}

// rule is a rule of either direction.
type rule struct {
	peers []networkingv1.NetworkPolicyPeer
	ports []networkingv1.NetworkPolicyPort
}

func rulesOf(policy *networkingv1.NetworkPolicy, direction direction) []rule {
	var rules []rule
	if direction == ingress {
		for _, r := range policy.Spec.Ingress {
			rules = append(rules, rule{r.From, r.Ports})
		}
		return rules
	}
	for _, r := range policy.Spec.Egress {
		rules = append(rules, rule{r.To, r.Ports})
	}
	return rules
}

// peers are the pods and blocks of addresses that a rule names.
type peers struct {
	pods   []*corev1.Pod
	blocks []networkingv1.IPBlock
}

// peers of a rule without any are all addresses, and all pods where it depends
// on them what a port's name means.
func (c *cluster) peers(namespace string, rule rule, direction direction) (peers, error) {
	found := peers{}
	if len(rule.peers) == 0 {
		found.blocks = []networkingv1.IPBlock{{CIDR: "0.0.0.0/0"}}
		if direction == egress && rule.namesPort() {
			found.pods = c.routedPods(func(*corev1.Pod) bool { return true })
		}
		return found, nil
	}
	for _, peer := range rule.peers {
		if peer.IPBlock != nil {
			found.blocks = append(found.blocks, *peer.IPBlock)
			continue
		}
		namespaces, err := c.selectedNamespaces(namespace, peer.NamespaceSelector)
		if err != nil {
			return peers{}, err
		}
		// Without a selector of pods, all of the namespaces' are meant.
		selector := labels.Everything()
		if peer.PodSelector != nil {
			if selector, err = metav1.LabelSelectorAsSelector(peer.PodSelector); err != nil {
				return peers{}, fmt.Errorf("pod selector: %w", err)
			}
		}
		found.pods = append(found.pods, c.routedPods(func(pod *corev1.Pod) bool {
			return slices.Contains(namespaces, pod.Namespace) && selector.Matches(labels.Set(pod.Labels))
		})...)
	}
	return found, nil
}

func (c *cluster) routedPods(selected func(*corev1.Pod) bool) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range c.pods {
		if routed(pod) && selected(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// selectedNamespaces without a selector are the policy's own.
func (c *cluster) selectedNamespaces(own string, selector *metav1.LabelSelector) ([]string, error) {
	if selector == nil {
		return []string{own}, nil
	}
	var names []string
	for _, namespace := range c.namespaces {
		selected, err := selects(selector, namespace.Labels)
		if err != nil {
			return nil, fmt.Errorf("namespace selector: %w", err)
		}
		if selected {
			names = append(names, namespace.Name)
		}
	}
	return names, nil
}

func selects(selector *metav1.LabelSelector, set map[string]string) (bool, error) {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return false, err
	}
	return parsed.Matches(labels.Set(set)), nil
}

// namesPort tells whether what ports the rule means depends on who listens.
func (r rule) namesPort() bool {
	return slices.ContainsFunc(r.ports, func(port networkingv1.NetworkPolicyPort) bool {
		return port.Port != nil && port.Port.Type == intstr.String
	})
}

// matches has one for each combination of peers and ports.
func (r rule) matches(pod *corev1.Pod, direction direction, peers peers) []string {
	var matches []string
	for _, block := range peers.blocks {
		listener := pod
		if direction == egress {
			listener = nil
		}
		matches = append(matches, combine(blockMatch(direction, block), r.portMatches(listener))...)
	}
	// Peers that listen on the same ports share their matches.
	addresses := map[string][]string{}
	for _, peer := range peers.pods {
		listener := pod
		if direction == egress {
			listener = peer
		}
		for _, port := range r.portMatches(listener) {
			addresses[port] = append(addresses[port], peer.Status.PodIP)
		}
	}
	for _, port := range slices.Sorted(maps.Keys(addresses)) {
		unique := slices.Compact(slices.Sorted(slices.Values(addresses[port])))
		match := fmt.Sprintf("ip %s { %s }", direction.peer(), strings.Join(unique, ", "))
		matches = append(matches, combine(match, []string{port})...)
	}
	return matches
}

func combine(address string, ports []string) []string {
	matches := make([]string, 0, len(ports))
	for _, port := range ports {
		matches = append(matches, strings.TrimSpace(address+" "+port))
	}
	return matches
}

func blockMatch(direction direction, block networkingv1.IPBlock) string {
	match := fmt.Sprintf("ip %s %s", direction.peer(), block.CIDR)
	if len(block.Except) > 0 {
		match += fmt.Sprintf(" ip %s != { %s }", direction.peer(), strings.Join(block.Except, ", "))
	}
	return match
}

// portMatches are the ports of a rule, or one empty match when it has none and
// so means all. A name stands for the port that the listener calls so, if it is
// a pod and does.
func (r rule) portMatches(listener *corev1.Pod) []string {
	if len(r.ports) == 0 {
		return []string{""}
	}
	var matches []string
	for _, port := range r.ports {
		protocol := corev1.ProtocolTCP
		if port.Protocol != nil {
			protocol = *port.Protocol
		}
		name := strings.ToLower(string(protocol))
		switch {
		case port.Port == nil:
			matches = append(matches, "meta l4proto "+name)
		case port.Port.Type == intstr.String:
			if number := containerPort(listener, port.Port.StrVal, protocol); number != 0 {
				matches = append(matches, fmt.Sprintf("%s dport %d", name, number))
			}
		case port.EndPort != nil:
			matches = append(matches, fmt.Sprintf("%s dport %d-%d", name, port.Port.IntVal, *port.EndPort))
		default:
			matches = append(matches, fmt.Sprintf("%s dport %d", name, port.Port.IntVal))
		}
	}
	return matches
}

// containerPort is the number of a pod's named port, or 0.
func containerPort(pod *corev1.Pod, name string, protocol corev1.Protocol) int32 {
	if pod == nil {
		return 0
	}
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == name && cmp.Or(port.Protocol, corev1.ProtocolTCP) == protocol {
				return port.ContainerPort
			}
		}
	}
	return 0
}
