// SPDX-License-Identifier: Apache-2.0

// Package otlp takes spans as nodes send them, OTLP over HTTP in protobuf, keeps
// them in files, and reads them again.
//
// A file of spans has one request after another as it came, each after its
// length in four bytes, big endian: what the file exporter of the OpenTelemetry
// collector writes as format proto, and its file receiver reads. Files in OTLP's
// JSON, as that exporter writes them by default, are read as well.
package otlp
