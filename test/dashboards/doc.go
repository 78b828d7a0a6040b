// SPDX-License-Identifier: Apache-2.0

// Package dashboards asks a Prometheus what the panels of a dashboard ask it.
package dashboards
