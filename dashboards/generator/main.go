// SPDX-License-Identifier: Apache-2.0

// The generator writes the Grafana dashboards as JSON, one file for each, the
// rules of Prometheus as YAML, and the page that lists all metrics.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"go.yaml.in/yaml/v3"

	"github.com/shardyard/shardyard/dashboards/generator/catalogue"
	"github.com/shardyard/shardyard/dashboards/generator/network"
	"github.com/shardyard/shardyard/dashboards/generator/rules"
)

// dashboards are the dashboards by the name of their file.
var dashboards = map[string]func() (dashboard.Dashboard, error){
	"benchmark.json": network.BenchmarkDashboard,
	"network.json":   network.Dashboard,
	"node.json":      network.NodeDashboard,
	"operator.json":  network.OperatorDashboard,
	"shard.json":     network.ShardDashboard,
}

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatal("generator: ", err)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: generator REPOSITORY DASHBOARDS METRICS.md")
	}
	repository, folder, page := args[0], args[1], args[2]
	for name, build := range dashboards {
		built, err := build()
		if err != nil {
			return fmt.Errorf("build %s: %w", name, err)
		}
		content, err := json.MarshalIndent(built, "", "  ")
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), append(content, '\n'), 0o644); err != nil {
			return err
		}
	}
	if err := writeRules(filepath.Join(folder, "rules.yaml")); err != nil {
		return err
	}
	sources, err := catalogue.Read(repository)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(catalogue.Page(sources)), 0o644)
}

func writeRules(path string) error {
	var content bytes.Buffer
	content.WriteString("# SPDX-License-Identifier: Apache-2.0\n#\n# Written by make generate from dashboards/generator/rules.\n")
	encoder := yaml.NewEncoder(&content)
	encoder.SetIndent(2)
	if err := encoder.Encode(rules.All()); err != nil {
		return fmt.Errorf("encode the rules: %w", err)
	}
	return os.WriteFile(path, content.Bytes(), 0o644)
}
