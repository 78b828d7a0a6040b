module github.com/shardyard/shardyard/hack/tools/tofu

go 1.26.0

require github.com/opentofu/opentofu v1.11.4

// What OpenTofu is built with here instead of older versions: with those, the code that it shares with Kubernetes and this
// repository's own module would be compiled twice.
require (
	cel.dev/expr v0.25.1
	github.com/GoogleCloudPlatform/opentelemetry-operations-go/detectors/gcp v1.30.0
	github.com/cncf/xds/go v0.0.0-20251210132809-ee656c7534f5
	github.com/envoyproxy/go-control-plane/envoy v1.36.0
	github.com/envoyproxy/protoc-gen-validate v1.3.0
	github.com/go-jose/go-jose/v4 v4.1.3
	github.com/grafana/regexp v0.0.0-20250905093917-f7b3be9d1853
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.27.7
	github.com/klauspost/compress v1.18.2
	github.com/prometheus/client_golang v1.23.2
	github.com/prometheus/common v0.67.5
	github.com/prometheus/otlptranslator v1.0.0
	github.com/prometheus/procfs v0.19.2
	github.com/spiffe/go-spiffe/v2 v2.6.0
	go.opentelemetry.io/contrib/detectors/gcp v1.39.0
	go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp v0.65.0
	go.opentelemetry.io/otel v1.41.0
	go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.40.0
	go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc v1.40.0
	go.opentelemetry.io/otel/metric v1.41.0
	go.opentelemetry.io/otel/sdk v1.40.0
	go.opentelemetry.io/otel/sdk/metric v1.40.0
	go.opentelemetry.io/otel/trace v1.41.0
	go.opentelemetry.io/proto/otlp v1.9.0
	go.yaml.in/yaml/v2 v2.4.3
	golang.org/x/crypto v0.47.0
	golang.org/x/mod v0.31.0
	golang.org/x/net v0.49.0
	golang.org/x/oauth2 v0.34.0
	golang.org/x/sync v0.20.0
	golang.org/x/sys v0.40.0
	golang.org/x/term v0.39.0
	golang.org/x/text v0.33.0
	golang.org/x/time v0.14.0
	golang.org/x/tools v0.40.0
	google.golang.org/genproto/googleapis/api v0.0.0-20260128011058-8636f8732409
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260128011058-8636f8732409
	google.golang.org/grpc v1.79.3
	google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af
)
