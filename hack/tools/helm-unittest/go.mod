module github.com/shardyard/shardyard/hack/tools/helm-unittest

go 1.26.0

// The upstream module was renamed and keeps the old path for its library.
replace github.com/vmware-labs/yaml-jsonpath v0.3.2 => github.com/helm-unittest/yaml-jsonpath v0.4.0

tool github.com/helm-unittest/helm-unittest/cmd/helm-unittest

require github.com/helm-unittest/helm-unittest v1.1.2
