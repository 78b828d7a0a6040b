// SPDX-License-Identifier: Apache-2.0

// Command extract writes the schema of the google provider, as far as this
// repository's Terraform uses it. It reads the bindings of the provider for CDK
// Terrain, which are generated from the provider's own schema and published on
// PyPI: the registry that serves providers is not reached from everywhere.
//
// usage: extract WHEEL >schema/google.json
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/shardyard/shardyard/hack/tools/terraform-provider-google/schema"
)

// resources are those that terraform/ uses.
var resources = []string{
	"google_artifact_registry_repository",
	"google_artifact_registry_repository_iam_member",
	"google_compute_address",
	"google_compute_firewall",
	"google_compute_network",
	"google_compute_router",
	"google_compute_router_nat",
	"google_compute_subnetwork",
	"google_container_cluster",
	"google_container_node_pool",
	"google_project_iam_member",
	"google_project_service",
	"google_service_account",
	"google_storage_bucket",
	"google_storage_bucket_iam_member",
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "extract:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("usage: extract WHEEL >schema/google.json")
	}
	sources, err := readWheel(arguments[0])
	if err != nil {
		return err
	}
	document, err := extract(sources)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	return encoder.Encode(document)
}

// extract makes the schema of the sources, which are by module.
func extract(sources map[string]string) (*schema.Document, error) {
	document := &schema.Document{Resources: map[string]schema.Schema{}}

	module, err := parse(sources["provider"])
	if err != nil {
		return nil, fmt.Errorf("module provider: %w", err)
	}
	document.Version = module.version
	if document.Provider.Block, err = module.top(); err != nil {
		return nil, fmt.Errorf("the provider: %w", err)
	}

	for _, resource := range resources {
		module, err := parse(sources[moduleOf(resource)])
		if err != nil {
			return nil, fmt.Errorf("module of %s: %w", resource, err)
		}
		block, err := module.top()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource, err)
		}
		document.Resources[resource] = schema.Schema{Block: block}
	}
	return document, nil
}

// moduleOf is the folder of a resource's bindings.
func moduleOf(resource string) string {
	return strings.ReplaceAll(strings.TrimPrefix(resource, "google_"), "_", "-")
}

// moduleAt is the module of a file of the bindings, which is empty for any other
// file than a module's source.
func moduleAt(file string) string {
	folder, name := path.Split(file)
	if !strings.HasPrefix(folder, "package/lib/") || path.Ext(name) != ".js" {
		return ""
	}
	module, _, _ := strings.Cut(strings.TrimPrefix(folder, "package/lib/"), "/")
	return module
}
