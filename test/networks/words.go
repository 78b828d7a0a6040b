// SPDX-License-Identifier: Apache-2.0

package networks

// The words of others, as a Kubernetes of version 1.36 says them.
const (
	KubeletSysctl = `forbidden sysctl: "net.core.somaxconn" not allowlisted`

	KernelSysctl = `FailedCreatePodSandBox: Failed to create pod sandbox: rpc error: code = Unknown desc = ` +
		`failed to start sandbox "0a7f": failed to create containerd task: failed to create shim task: ` +
		`OCI runtime create failed: runc create failed: unable to start container process: error during container init: ` +
		`failed to write sysctl net.ipv4.tcp_congestion_control = "bbr": ` +
		`write sys/net/ipv4/tcp_congestion_control: operation not permitted`

	PodSecurity = `FailedCreate: create Pod quickstart-s0-p0-0 in StatefulSet quickstart-s0-p0 failed error: ` +
		`pods "quickstart-s0-p0-0" is forbidden: violates PodSecurity "restricted:latest": ` +
		`forbidden sysctls (net.core.somaxconn, net.ipv4.tcp_congestion_control, net.ipv4.tcp_max_syn_backlog, ` +
		`net.ipv4.tcp_mtu_probing, net.ipv4.tcp_no_metrics_save, net.ipv4.tcp_slow_start_after_idle)`

	Quota = `FailedCreate: create Pod quickstart-s0-p0-0 in StatefulSet quickstart-s0-p0 failed error: ` +
		`pods "quickstart-s0-p0-0" is forbidden: exceeded quota: team, requested: pods=1, used: pods=10, limited: pods=10`

	NoMachine = `0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. ` +
		`preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`

	NoDisk = `0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. ` +
		`preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`

	NoImage = `failed to pull and unpack image "ghcr.io/shardyard/shardnode:nope": failed to resolve reference ` +
		`"ghcr.io/shardyard/shardnode:nope": ghcr.io/shardyard/shardnode:nope: not found`

	OtherState = `{"timestamp":"2026-11-21T11:59:31.101Z","level":"ERROR","message":"finalised block 120 commits shard 0 ` +
		`at height 119 to root 5f0c3a52, this node executed to c2a1b6de","target":"shardnode"}`

	DiskFull = `{"timestamp":"2026-11-21T11:59:31.101Z","level":"ERROR","message":"data directory ` +
		`/var/lib/shardnode/data cannot be used: No space left on device (os error 28)","target":"shardnode"}`

	EvictedForDisk = `The node was low on resource: ephemeral-storage. Threshold quantity: 10737418240, available: 9871Mi. ` +
		`Container shardnode was using 61Gi, request is 0, has larger consumption of ephemeral-storage. `

	DiskElsewhere = `0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match PersistentVolume's node affinity. ` +
		`preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.`

	NoFile = `FailedMount: MountVolume.SetUp failed for volume "files" : secret "quickstart-s0-p0-key" not found`
)
