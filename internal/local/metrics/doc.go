// SPDX-License-Identifier: Apache-2.0

// Package metrics scrapes the nodes of a network of this machine, keeps what
// they said for some time, and answers PromQL queries about it: as much of a
// Prometheus as the page of a network and a data source of Grafana ask for.
package metrics
