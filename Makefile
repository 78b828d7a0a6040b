# SPDX-License-Identifier: Apache-2.0

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

##@ Variables

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/shardyard

## MANIFEST: The ShardNetwork that make demo runs (default config/samples/quickstart.yaml)
MANIFEST ?= config/samples/quickstart.yaml

## DURATION: How long make demo runs from the first block on, such as 60s; unset, until Ctrl-C
DURATION ?=

## RELEASE: Anything has make demo run the release build of the node, which is what figures are of
RELEASE ?=

## FRESH: Anything has make demo start over, instead of going on with the network that is kept
FRESH ?=

## NODES: How many nodes make cluster-up starts (default 1)
export NODES

## CLUSTER: The number of the Kubernetes that cluster-up, cluster-load and cluster-down are about, of up to 3 (default 1)
export CLUSTER

## KWOK_NODES: How many fake machines make kwok-up makes (default 140)
export KWOK_NODES

## REGIONS: The regions of the nodes, which take turns, such as us-east1,us-east4 (default local; of fake machines, three)
export REGIONS

## KEEP: If set, make e2e leaves its cluster up, and takes the one that is up
export KEEP

## SCALE_SEED: Makes the random choices of an earlier make scale, which printed it
export SCALE_SEED

## TERRAFORM: The program that make terraform-test runs (default terraform or tofu of this machine, else OpenTofu, built)
export TERRAFORM

## ONLY: The benchmarks that make reproductions runs, such as "neo-single-local neo-four-local" (default all)
export ONLY

## VERSION: The version that make release makes, which is that of the tree
VERSION ?=

## PLATFORMS: What make release builds shardyard for (default linux and darwin, each on amd64 and arm64)
export PLATFORMS

## KILLS: How often make kills kills a node (default 50)
KILLS ?= 50
## RETENTION: How many blocks nodes of make retention keep (default 2000)
RETENTION ?= 2000

## COMPARISONS: How often make verdicts compares the node with itself (default 20)
COMPARISONS ?= 20

## ATTACK: How long each attack of make attacks goes on (default 10m)
ATTACK ?= 10m

## SEEDS: How many seeds of each scenario make simulate runs (default 500)
SEEDS ?= 500

## BUSY_SEEDS: How many seeds of the scenarios in which work takes time make simulate runs (default 200)
BUSY_SEEDS ?= 200

## LARGE_SEEDS: How many seeds of each large scenario make simulate runs (default 20)
LARGE_SEEDS ?= 20

## FUZZ_SECONDS: How long make fuzz runs each target (default 60)
export FUZZ_SECONDS

## FUZZ_TARGET: The only target that make fuzz runs, a folder of node/fuzz/corpus (default all)
export FUZZ_TARGET

## FUZZ_INPUT: A file to give to FUZZ_TARGET, instead of looking for others
export FUZZ_INPUT

## CRATE: The crate of the node that make mutants changes, a folder of node/crates, such as mandates
CRATE ?=

## SLICE: Which places make mutants changes, 0/8 to 7/8 for an eighth of them each (default 0/1, all)
SLICE ?= 0/1

## CARGO_TARGET_DIR: Where cargo builds (default ~/.cache/shardyard/node-target)
export CARGO_TARGET_DIR ?= $(CACHE)/node-target

# Every Go command here, the linter's included, compiles with the same settings and so shares one build cache with the
# tools. Set and not empty, GOFLAGS also hides what the caller's environment and go env -w hold. It is the linter that vets:
# go test would look through everything that a package imports first. Google's storage library talks HTTP here; what it needs for
# gRPC would make a program 12 MB larger.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false -vet=off -tags=disable_grpc_modules
export GOWORK := off
export GOLANGCI_LINT_CACHE := $(CACHE)/golangci-lint

# The race detector is the one thing that needs cgo. It takes a compilation of its own of all that a package imports, and
# sees only what tests run: those of UNRACED, which import all of client-go, run nothing of theirs side by side, or leave
# that to the pods of a real API server.
RACE := CGO_ENABLED=1
UNRACED := ./internal/clusterbackup ./internal/drift ./internal/fleet ./internal/sweep
RACED = go list ./internal/... | grep -v $(UNRACED:.%=-e '%$$')

# Modules of their own, so that the product does not depend on what they need.
MODULES := dashboards/generator dashboards/kube-state-metrics hack/tools/terraform-provider-google test/setup

# Another target triple would put the binary into another folder.
unexport CARGO_BUILD_TARGET

# cargo would take make's flags for a job server that it cannot reach.
CARGO := cd node && env -u MAKEFLAGS -u MFLAGS cargo

##@ General

.PHONY: help
help: ## List the variables and the targets
	@awk '/^##@ / { printf "\n%s\n", substr($$0, 5) } \
	match($$0, /^## [A-Z_]+: /) { printf "  %-18s%s\n", substr($$0, 4, RLENGTH - 5), substr($$0, RLENGTH + 1) } \
	match($$0, /^[a-z][a-z0-9-]*:/) && split($$0, parts, " ## ") == 2 { \
		printf "  %-18s%s\n", substr($$0, 1, RLENGTH - 1), parts[2] }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Check what building needs; as root, install missing Debian packages
	@hack/setup.sh build

.PHONY: setup-test
setup-test: ## Like setup, for what testing and linting need as well
	@hack/setup.sh test

.PHONY: setup-cluster
setup-cluster: ## Like setup, for what cluster-up needs, but nothing of building networks
	@hack/devcluster/setup.sh

.PHONY: setup-kwok
setup-kwok: ## Like setup, for what kwok-up needs, but nothing of building networks
	@hack/setup.sh cluster-kwok

.PHONY: setup-release
setup-release: ## Like setup, for what release needs as well
	@hack/setup.sh release

.PHONY: tools
tools: ## Put the pinned helm and kubectl into bin/
	@hack/setup.sh tools
	@mkdir -p bin; for tool in helm kubectl; do program=$$(hack/tool.sh $$tool); ln -sfn "$$program" bin/$$tool; done

.PHONY: clean
clean: ## Remove the binaries, releases and what npm installed; the caches in ~/.cache/shardyard stay
	rm -rf bin dist dashboards/page/node_modules

##@ Build and run

.PHONY: build
build: setup ## Build bin/shardyard and bin/shardnode
	@$(MAKE) -j2 build-shardyard build-shardnode

.PHONY: build-shardyard
build-shardyard: setup ## Build bin/shardyard, the command line
	@go build -o bin/shardyard ./cmd/shardyard

.PHONY: build-shardnode
build-shardnode: setup ## Build bin/shardnode, the node
	@$(CARGO) build --release --locked --bin shardnode
	@mkdir -p bin && install -m 0755 "$$CARGO_TARGET_DIR/release/shardnode" bin/shardnode

.PHONY: build-hostile-peer
build-hostile-peer: setup ## Build bin/shardnode-hostile-peer, which tests put in the place of a validator
	@$(CARGO) build --release --locked --workspace --example hostile_peer
	@install -D -m 0755 "$$CARGO_TARGET_DIR/release/examples/hostile_peer" bin/shardnode-hostile-peer

# Without the simulator, which nobody needs to run a network.
.PHONY: build-shardnode-development
build-shardnode-development: setup ## Build bin/development/shardnode, a node that is built fast and runs slower
	@$(CARGO) build --locked --bin shardnode --no-default-features
	@install -D -m 0755 "$$CARGO_TARGET_DIR/debug/shardnode" bin/development/shardnode

.PHONY: rebuild-times
rebuild-times: build-shardyard build-shardnode-development ## Time it from a changed line in each crate of the node to a running demo
	@hack/rebuild-times.sh bin/shardyard config/samples/quickstart.yaml

.PHONY: build-operator
build-operator: setup ## Build bin/operator, the manager of the networks on Kubernetes
	@go build -ldflags "-s -w" -o bin/operator ./cmd/operator

.PHONY: images
images: image-operator image-shardnode ## Write the images of both programs to bin/images, as docker-archives

.PHONY: image-operator
image-operator: build-operator
	@hack/image.sh operator bin/images/operator.tar

.PHONY: image-shardnode
image-shardnode: build-shardnode
	@hack/image.sh shardnode bin/images/shardnode.tar

.PHONY: build-page
build-page: setup-test dashboards/page/node_modules/.package-lock.json ## Build dashboards/page/dist, which bin/shardyard holds, after a change of the page
	@cd dashboards/page && rm -rf dist && npm run --silent build

# What npm keeps of an installation tells whether it is of this lock file.
dashboards/page/node_modules/.package-lock.json: dashboards/page/package-lock.json
	@cd dashboards/page && npm ci --loglevel=error

# The same programs under another name, for who wants to see one image replace another, and a program beside the node's
# that can take its place.
.PHONY: image-shardnode-next
image-shardnode-next: build-shardnode build-hostile-peer
	@hack/image.sh shardnode bin/images/shardnode-next.tar next shardnode-hostile-peer

.PHONY: image-operator-next
image-operator-next: build-operator
	@hack/image.sh operator bin/images/operator-next.tar next

.PHONY: image-toolbox
image-toolbox:
	@image=$$(hack/tool.sh image); toolbox=$$(hack/tool.sh toolbox); \
	"$$image" -o bin/images/toolbox.tar -t shardyard/toolbox:dev -entrypoint /bin/sh "$$toolbox:/bin/sh"

.PHONY: image-jaeger
image-jaeger:
	@image=$$(hack/tool.sh image); jaeger=$$(hack/tool.sh jaeger); \
	"$$image" -o bin/images/jaeger.tar -t shardyard/jaeger:dev -entrypoint /jaeger "$$jaeger:/jaeger"

# A server that keeps a bucket in memory, for tests.
.PHONY: image-bucket
image-bucket:
	@go build -ldflags "-s -w" -o bin/bucket ./test/buckets/bucket; image=$$(hack/tool.sh image); \
	"$$image" -o bin/images/bucket.tar -t shardyard/bucket:dev -entrypoint /bucket "bin/bucket:/bucket"

.PHONY: demo
demo: setup ## Run a network on this machine; with DURATION the last line is a JSON summary
	@$(MAKE) -j2 build-shardyard build-shardnode$(if $(RELEASE),,-development)
	@exec bin/shardyard up -f $(MANIFEST) --trace-basis-points 1000 $(if $(RELEASE),,--shardnode bin/development/shardnode) $(if $(DURATION),--for $(DURATION) -o json) $(if $(FRESH),--fresh)

##@ Release

.PHONY: release
release: setup-release build-shardnode ## Write the release of this commit, which is of VERSION, to dist/VERSION
	@hack/release.sh "$(VERSION)"

# The node is built in both, but for the crates that are not of this repository.
.PHONY: release-compare
release-compare: setup-release ## Check that two releases of this commit, which is of VERSION, have equal digests
	@hack/release-compare.sh "$(VERSION)"

.PHONY: release-installed
release-installed: setup-cluster tools ## Install what make release wrote for VERSION onto the cluster that cluster-up started, and test it there
	@hack/release-installed.sh "$(VERSION)"

##@ Run on Kubernetes

.PHONY: cluster-prepare
cluster-prepare: ## Build what cluster-up and kwok-up run, and start nothing
	@hack/devcluster/prepare.sh

# Whoever asks for both in one command learns of what building the images takes before the cluster is built.
.PHONY: cluster-up
cluster-up: $(if $(filter cluster-load,$(MAKECMDGOALS)),setup) ## Start a Kubernetes of NODES nodes on this machine; prints how to use it
	@hack/devcluster/up.sh

.PHONY: cluster-load
cluster-load: images ## Put the images of both programs onto the nodes
	@hack/devcluster/load.sh bin/images/operator.tar bin/images/shardnode.tar

.PHONY: cluster-down
cluster-down: ## Remove the Kubernetes that cluster-up started
	@hack/devcluster/down.sh

.PHONY: kwok-up
kwok-up: ## Start a control plane with KWOK_NODES fake machines, on which nothing really runs
	@hack/devcluster/kwok/up.sh

.PHONY: kwok-down
kwok-down: ## Remove the control plane that kwok-up started
	@hack/devcluster/kwok/down.sh

##@ Test

.PHONY: test
test: setup-test ## Run the checks below and all tests that need no cluster: see e2e and scale for those
	@hack/parts.sh prepare verify+lint test-go+test-charts,test-release,terraform-test+test-node test-local

# The long compilations of both languages run side by side; what follows runs alone, one after the other, so that no
# test competes with a compiler for the processors and the output stays readable. The last crates of the node wait for each
# other and leave a processor idle, so the node is to come first to them: what is of Go then takes what is left. Checks that
# run nothing wait for modules and packages beside each other, and so do tests that wait for an API server, beside
# which the tests of the node, most of which take simulated time, take what is left; what npm installs for the first two is
# there before. Networks on this machine are measured, and run alone.
.PHONY: prepare
prepare: setup-test dashboards/page/node_modules/.package-lock.json
	@$(MAKE) -j2 --output-sync=line part-prepare-go part-prepare-node

comma := ,
part-%:
	@$(if $(filter prepare-go% test-node scale% fuzz,$*),nice -n 19) hack/parts.sh $(subst $(comma), ,$*)

.PHONY: prepare-go
prepare-go: setup-test ## Build the Go tools and compile the Go code
	@echo "preparing the Go side: an API server, linters, the code and its tests"
	@hack/envtest-assets.sh >/dev/null
	@hack/tool.sh controller-gen >/dev/null
	@hack/tool.sh golangci-lint >/dev/null
	@hack/tool.sh helm >/dev/null
	@hack/tool.sh kubectl >/dev/null
	@hack/tool.sh registry >/dev/null
	@hack/tool.sh helm-unittest >/dev/null
	@hack/tool.sh terraform-provider-google >/dev/null
	@hack/terraform.sh >/dev/null
	@for module in . $(MODULES); do go -C "$$module" list -export -test ./... >/dev/null; done
	@$(RACE) go list -race -export -test $$($(RACED)) >/dev/null

.PHONY: prepare-node
prepare-node: setup-test ## Compile the node, its tests and what clippy needs
	@echo "preparing the Rust side: the node, its tests and what clippy needs"
	@$(CARGO) test --release --locked --workspace --no-run
	@$(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings

.PHONY: test-go
test-go: setup-test ## Run the Go tests, those of the API rules against a real API server
	@$(RACE) go test -race $$($(RACED))
	@assets=$$(hack/envtest-assets.sh); packages=$$(go list ./... | grep -v -e /internal/ -e /test/); \
	monitors=$$(hack/crd.sh podmonitors); routes=$$(hack/crd.sh httproutes); \
	KUBEBUILDER_ASSETS=$$assets PODMONITOR_CRD=$$monitors HTTPROUTE_CRD=$$routes go test -p 3 $$packages $(UNRACED) ./test/standin/... ./test/fields/...
	@for module in $(filter-out test/setup,$(MODULES)); do go -C "$$module" test ./...; done

# Not cached: go test cannot see what helm reads.
.PHONY: test-charts
test-charts: setup-test ## Test the charts: their unit tests, and installing them on a real API server
	@helm_unittest=$$(hack/tool.sh helm-unittest); "$$helm_unittest" --strict charts/shardyard charts/testnet
	@assets=$$(hack/envtest-assets.sh); helm=$$(hack/tool.sh helm); kubectl=$$(hack/tool.sh kubectl); crd=$$(hack/crd.sh prometheusrules); \
	KUBEBUILDER_ASSETS=$$assets HELM=$$helm KUBECTL=$$kubectl PROMETHEUSRULE_CRD=$$crd go test -count=1 -timeout=20m ./test/charts/...

# Not cached: go test cannot see what a release is made of.
.PHONY: test-release
test-release: setup-test ## Make releases without the node, and compare and use them
	@assets=$$(hack/envtest-assets.sh); helm=$$(hack/tool.sh helm); registry=$$(hack/tool.sh registry); \
	KUBEBUILDER_ASSETS=$$assets HELM=$$helm REGISTRY=$$registry go test -count=1 ./test/release/...

# Not cached: go test cannot see what terraform reads.
.PHONY: terraform-test
terraform-test: setup-test ## Check, test and plan the Terraform against the schema of the google provider, without Google Cloud
	@terraform=$$(hack/terraform.sh); provider=$$(hack/tool.sh terraform-provider-google); \
	TERRAFORM=$$terraform TERRAFORM_PROVIDER=$$provider go test -count=1 ./test/terraform/...

.PHONY: test-node
test-node: setup-test ## Run the Rust tests
	@$(CARGO) test --release --locked --workspace

.PHONY: damage
damage: setup-test ## Flip a bit in every range of every file of a node, and see that it is made good or said; takes minutes
	@$(CARGO) test --release --locked --workspace --test network -- --ignored --nocapture whichever_range_is_damaged

# On its own: the node with faults on purpose is compiled apart from the one that everything else runs.
.PHONY: planted
planted: setup-test ## Check that the simulator finds faults that are planted in the node
	@$(CARGO) clippy --release --locked -p shardnode-execution -p shardnode-simulator \
		--features shardnode-simulator/planted-faults --all-targets -- -D warnings
	@$(CARGO) test --release --locked -p shardnode-simulator --features planted-faults --test planted

# Run by hand: it takes minutes to compile.
.PHONY: build-planted-shardnode
build-planted-shardnode: setup ## Build bin/planted/shardnode, a node that gets something wrong, or delays it, when it is told to
	@$(CARGO) build --release --locked --bin shardnode --no-default-features --features planted-faults
	@install -D -m 0755 "$$CARGO_TARGET_DIR/release/shardnode" bin/planted/shardnode

# The node with faults is built after the one without: both are built at the same place.
.PHONY: planted-nodes
planted-nodes: setup-test build ## Check that faults and traces name what a real node gets wrong, or delays, on purpose
	@$(CARGO) clippy --release --locked -p shardnode --no-default-features --features planted-faults --bins -- -D warnings
	@$(MAKE) build-planted-shardnode
	@PLANTED="$$PWD/bin/planted/shardnode" go test -count=1 -v -timeout 15m -run '^(TestPlantedFaults|TestTracesNameALateWitness)$$' ./test/local

.PHONY: simulate
simulate: build-shardnode ## Run every scenario of the simulator with SEEDS seeds, the busy with BUSY_SEEDS, the large with LARGE_SEEDS
	@failed=0; bin/shardnode simulate --scenario all --seeds 0..$(SEEDS) || failed=1; \
	bin/shardnode simulate --scenario floods --seeds 0..$(BUSY_SEEDS) || failed=1; \
	for large in large large-corrupt-committee; do \
		bin/shardnode simulate --scenario $$large --seeds 0..$(LARGE_SEEDS) || failed=1; \
	done; exit $$failed

.PHONY: fuzz
fuzz: setup-test ## Give every decoder of the node hostile bytes: each target of node/fuzz for FUZZ_SECONDS
	@hack/fuzz/run.sh

.PHONY: mutants
mutants: setup-test ## Change CRATE of the node in every place, one at a time, and see whether its tests notice
	@hack/mutants.sh "$(CRATE)" "$(SLICE)"

# Not cached: go test cannot see that the node program has changed.
.PHONY: test-local
test-local: setup-test build build-hostile-peer dashboards/page/node_modules/.package-lock.json ## Run networks on this machine from end to end, and look at the page of one
	@go test -count=1 -p 1 -timeout 30m ./test/local/... ./test/dashboards/...
	@ONLY="neo-single-local neo-four-local" hack/reproductions.sh

.PHONY: reproductions
reproductions: setup-test build dashboards/page/node_modules/.package-lock.json ## Run every benchmark of config/samples that a machine can by itself, and look at its report
	@hack/reproductions.sh

.PHONY: verdicts
verdicts: setup-test build ## Compare a node that is slower on purpose, and COMPARISONS times the node itself, with the node; takes an hour
	@$(CARGO) build --release --locked --bin shardnode --features planted-burden --target-dir "$$CARGO_TARGET_DIR/planted-burden"
	@BURDENED="$$CARGO_TARGET_DIR/planted-burden/release/shardnode" COMPARISONS=$(COMPARISONS) \
	go test -count=1 -v -timeout 240m -run '^TestVerdicts$$' ./test/local

.PHONY: costs
costs: setup-test build ## Compare nodes that are traced, profiled, and that log more or less, with nodes that are not; takes most of half an hour
	@COSTS=1 go test -count=1 -v -timeout 90m -run '^TestCosts$$' ./test/local

.PHONY: queries
queries: setup-test build ## Time every query of the dashboards about an hour of 70 shards and 140 nodes
	@LARGE_NETWORK=1 go test -count=1 -v -timeout 20m -run '^TestLargeNetwork$$' ./test/dashboards

.PHONY: kills
kills: setup-test build ## Kill a node under load, KILLS times, and wait each time for the chain to confirm the state it came back with
	@KILLS=$(KILLS) go test -count=1 -v -timeout 60m -run 'TestKills$$' ./test/local

.PHONY: retention
retention: setup-test build ## Have a network make three times as many blocks as it keeps, RETENTION, and see that files, memory and disk stop growing; takes ten minutes
	@RETENTION=$(RETENTION) go test -count=1 -v -timeout 60m -run '^TestRetention$$' ./test/local

.PHONY: attacks
attacks: setup-test build build-hostile-peer ## Attack a validator over HTTP and from a peer, in each way for ATTACK, and see that blocks take no longer and memory does not grow; takes an hour and a half
	@ATTACK=$(ATTACK) go test -count=1 -v -timeout 600m -run '^(TestHostileNeighbours|TestFloodedPool|TestHostilePeer)$$' ./test/local

# Not cached: go test cannot see what Debian's packages hold.
.PHONY: setup-check
setup-check: setup-test ## Check in minimal Debian roots that the set-up of every target brings every command that it calls; takes root
	@hack/setup.sh setup-check
	@go -C test/setup test -count=1 -timeout 20m -v ./...

.PHONY: prepare-e2e
prepare-e2e: setup-test ## Build what the tests on a Kubernetes run beside the cluster and the operator
	@for tool in gotestsum image jaeger kube-state-metrics toolbox; do hack/tool.sh "$$tool" >/dev/null; done

# Not cached: go test cannot see what the programs and the charts do.
.PHONY: e2e
e2e: setup-test setup-cluster build-shardyard images image-operator-next image-shardnode-next image-toolbox image-jaeger image-bucket ## Run networks on a Kubernetes that starts and ends with the test; KEEP=1 keeps it
	@helm=$$(hack/tool.sh helm); kubectl=$$(hack/tool.sh kubectl); reporter=$$(hack/tool.sh kube-state-metrics); \
	gotestsum=$$(hack/tool.sh gotestsum); \
	HELM=$$helm KUBECTL=$$kubectl KUBE_STATE_METRICS=$$reporter SHARDYARD=$$PWD/bin/shardyard \
	go test -json -count=1 -timeout 50m -skip '^TestRollouts$$' ./test/e2e/... | \
	"$$gotestsum" --format standard-verbose --raw-command -- cat

# Not cached: go test cannot see what the programs and the charts do.
.PHONY: rollouts
rollouts: setup-test setup-cluster images image-operator-next image-shardnode-next image-toolbox image-jaeger image-bucket ## Replace the nodes of networks again and again, under load, on a Kubernetes of this machine
	@helm=$$(hack/tool.sh helm); kubectl=$$(hack/tool.sh kubectl); gotestsum=$$(hack/tool.sh gotestsum); \
	HELM=$$helm KUBECTL=$$kubectl go test -json -count=1 -timeout 180m -run '^TestRollouts$$' ./test/e2e/... | \
	"$$gotestsum" --format standard-verbose --raw-command -- cat

# Not cached: go test cannot see what the programs and the charts do.
.PHONY: scale
scale: setup-test setup-kwok build-operator ## Run the operator on 140 fake machines, a network and a benchmark of that size, and check what it takes
	@source hack/devcluster/lib.sh; for tool in "$${kwok_tools[@]}"; do hack/tool.sh "$$tool" >/dev/null; done
	@helm=$$(hack/tool.sh helm); \
	HELM=$$helm OPERATOR=$$PWD/bin/operator go test -count=1 -timeout 20m -v -run '^TestScale$$' ./test/scale/...

# Not cached: go test cannot see what the programs and the charts do.
.PHONY: scale-large
scale-large: setup-test setup-kwok build-operator ## Run the operator on 1,000 fake machines, the most that a network may have, and check what it takes
	@source hack/devcluster/lib.sh; for tool in "$${kwok_tools[@]}"; do hack/tool.sh "$$tool" >/dev/null; done
	@helm=$$(hack/tool.sh helm); \
	HELM=$$helm OPERATOR=$$PWD/bin/operator go test -count=1 -timeout 90m -v -run '^TestLarge$$' ./test/scale/...

# Not cached: go test cannot see what the programs and the charts do.
.PHONY: fleet
fleet: setup-test setup-kwok build-operator build-shardyard ## Run one network of 140 fake machines over three control planes, and take one away
	@source hack/devcluster/lib.sh; for tool in "$${kwok_tools[@]}"; do hack/tool.sh "$$tool" >/dev/null; done
	@helm=$$(hack/tool.sh helm); \
	HELM=$$helm OPERATOR=$$PWD/bin/operator SHARDYARD=$$PWD/bin/shardyard \
	go test -count=1 -timeout 20m -v -run '^TestFleet$$' ./test/scale/...

.PHONY: envtest-assets
envtest-assets: setup-test ## Build the API server and etcd for the Go tests; prints the folder, KUBEBUILDER_ASSETS
	@hack/envtest-assets.sh

##@ Check

.PHONY: lint
lint: lint-go lint-node lint-shell lint-charts lint-page verify-format ## Run all linters

.PHONY: lint-go
lint-go: setup-test ## Run golangci-lint
	@golangci_lint=$$(hack/tool.sh golangci-lint); for module in . $(MODULES); do (cd "$$module" && "$$golangci_lint" run); done

.PHONY: lint-node
lint-node: setup-test ## Run clippy, and follow the links of the crates' documentation
	@$(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings
	@export RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links"; \
	$(CARGO) doc --release --locked --workspace --no-deps --document-private-items

.PHONY: lint-page
lint-page: setup-test dashboards/page/node_modules/.package-lock.json ## Check the types of the page that shows the dashboards
	@cd dashboards/page && npm run --silent check

.PHONY: lint-shell
lint-shell: setup-test ## Run shellcheck
	@find hack .ci test -type f -perm -u+x -exec shellcheck --external-sources --check-sourced {} +

.PHONY: lint-charts
lint-charts: setup-test ## Run helm lint
	@helm=$$(hack/tool.sh helm); "$$helm" lint --strict --quiet charts/shardyard charts/testnet

.PHONY: verify
verify: verify-generated verify-page verify-modules verify-format ## Check that the tree holds what generate, fmt and go mod tidy would write

.PHONY: verify-generated
verify-generated: setup-test ## Check the deepcopy code, the CRDs, the API reference, the dashboards, the rules, the charts' copies and tables, and the names for Terraform
	@hack/generate.sh --check

.PHONY: verify-page
verify-page: setup-test dashboards/page/node_modules/.package-lock.json ## Check that the page in the tree is what build-page builds
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	(cd dashboards/page && node build.mjs "$$fresh"); \
	diff -rq dashboards/page/dist "$$fresh" >&2 || \
		{ echo "the page is out of date: run make build-page and commit the result" >&2; exit 1; }

# The module of OpenTofu is left out: it pins what is built, and imports nothing.
.PHONY: verify-modules
verify-modules: setup-test ## Check go.mod and go.sum of every module, and that they share what they can
	@for module in $(sort . $(MODULES) $(filter-out hack/tools/tofu,$(wildcard hack/tools/*))); do go -C "$$module" mod tidy -diff; done
	@hack/shared-libraries.sh

.PHONY: verify-format
verify-format: setup-test ## Check the formatting of both languages
	@golangci_lint=$$(hack/tool.sh golangci-lint); "$$golangci_lint" fmt --diff
	@$(CARGO) fmt --check

##@ Write

.PHONY: generate
generate: setup ## Generate the deepcopy code and the CRDs from api/, the API reference, the dashboards, the rules, the charts' copies and tables, and the names for Terraform
	@hack/generate.sh

# The vectors of one crate are read by the next.
.PHONY: vectors
vectors: setup-test ## Write the golden vectors of the node's formats anew, after a change that is meant
	@export UPDATE_VECTORS=1; $(CARGO) test --release --locked --workspace --test primitives --test mandates --test coding --test verifier \
		--test witness vectors
	@export UPDATE_VECTORS=1; $(CARGO) test --release --locked --workspace --test fuzz golden

.PHONY: fuzz-corpus
fuzz-corpus: setup-test ## Add what make fuzz found to its saved corpus, and keep the fewest inputs
	@hack/fuzz/run.sh minimise

.PHONY: fmt
fmt: setup-test ## Format the code of both languages
	@golangci_lint=$$(hack/tool.sh golangci-lint); "$$golangci_lint" fmt
	@$(CARGO) fmt
