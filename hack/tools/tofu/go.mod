module github.com/shardyard/shardyard/hack/tools/tofu

go 1.26.0

require github.com/opentofu/opentofu v1.11.4
