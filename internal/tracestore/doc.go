// SPDX-License-Identifier: Apache-2.0

// Package tracestore reads the spans of networks from where their nodes send them:
// Jaeger or Tempo, over the HTTP APIs that these have for queries.
package tracestore
