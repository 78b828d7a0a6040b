# SPDX-License-Identifier: Apache-2.0
#
# The images of the two programs: targets operator and shardnode. hack/image.sh makes the same images without Docker.

FROM golang:1.26.8-bookworm AS operator-build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/go/cache GOCACHE=/go/cache \
    CGO_ENABLED=0 go build -trimpath -tags disable_grpc_modules -ldflags "-s -w" -o /operator ./cmd/operator

FROM rust:1.95.0-bookworm AS shardnode-build
WORKDIR /src
COPY node .
# The target folder is a cache that the next stage does not see, so the program leaves it here.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    cargo build --release --locked --bin shardnode && install -m 0755 target/release/shardnode /shardnode

FROM gcr.io/distroless/static-debian12:nonroot AS operator
COPY --from=operator-build /operator /usr/local/bin/operator
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/operator"]

# The node is linked against the C library, of the same Debian that built it.
FROM gcr.io/distroless/cc-debian12:nonroot AS shardnode
COPY --from=shardnode-build /shardnode /usr/local/bin/shardnode
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/shardnode"]
