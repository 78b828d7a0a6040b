// SPDX-License-Identifier: Apache-2.0

// Package crd holds the CustomResourceDefinitions as the API server gets them.
package crd

import _ "embed"

// ShardNetwork is the definition of the ShardNetwork resource, in YAML.
//
//go:embed bases/shardyard.dev_shardnetworks.yaml
var ShardNetwork []byte

// Benchmark is the definition of the Benchmark resource, in YAML.
//
//go:embed bases/shardyard.dev_benchmarks.yaml
var Benchmark []byte

// BenchmarkSchedule is the definition of the BenchmarkSchedule resource, in YAML.
//
//go:embed bases/shardyard.dev_benchmarkschedules.yaml
var BenchmarkSchedule []byte

// Fault is the definition of the Fault resource, in YAML.
//
//go:embed bases/shardyard.dev_faults.yaml
var Fault []byte
