#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints COUNT fake machines of the type that the NEAR presets ask for, spread over regions, as a manifest.
#
# usage: hack/devcluster/kwok/nodes.sh COUNT REGION...
set -euo pipefail

count=$1
shift
regions=("$@")

# What Google Kubernetes Engine leaves to pods of the machine's 16 processors and 126 GiB.
capacity="{cpu: 16, memory: 126Gi, pods: 110}"
allocatable="{cpu: 15890m, memory: 116Gi, pods: 110}"

for index in $(seq "$count"); do
	region=${regions[$(((index - 1) % ${#regions[@]}))]}
	name=$(printf 'fake-%03d' "$index")
	cat <<-NODE
		---
		apiVersion: v1
		kind: Node
		metadata:
		  name: $name
		  labels:
		    kubernetes.io/arch: amd64
		    kubernetes.io/hostname: $name
		    kubernetes.io/os: linux
		    node.kubernetes.io/instance-type: c4d-highmem-16
		    topology.kubernetes.io/region: $region
		    topology.kubernetes.io/zone: $region-a
		spec:
		  taints:
		    - {key: shardyard.dev/machine-type, value: c4d-highmem-16, effect: NoSchedule}
		status:
		  capacity: $capacity
		  allocatable: $allocatable
	NODE
done
