// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// member is a cluster to join.
type member struct {
	// name is what regions name it by.
	name string
	// domain is that of its DNS names.
	domain string
	// config reaches it with rights to make accounts and roles.
	config *rest.Config
}

// members are the clusters that the command line names.
func (o *options) members(ctx context.Context, arguments []string, input io.Reader) ([]member, error) {
	if (o.terraform == "") == (len(arguments) == 0) {
		return nil, errors.New("name the clusters as NAME=CONTEXT,DOMAIN, or with --terraform")
	}
	if o.terraform != "" {
		return o.fromTerraform(ctx, input)
	}
	members := make([]member, 0, len(arguments))
	for _, argument := range arguments {
		name, place, _ := strings.Cut(argument, "=")
		// Names of contexts may hold commas, domains may not.
		comma := strings.LastIndex(place, ",")
		if name == "" || comma < 1 || comma == len(place)-1 {
			return nil, fmt.Errorf("%q is not NAME=CONTEXT,DOMAIN", argument)
		}
		config, err := o.contextConfig(place[:comma])
		if err != nil {
			return nil, fmt.Errorf("cluster %s: %w", name, err)
		}
		members = append(members, member{name: name, domain: place[comma+1:], config: config})
	}
	return members, nil
}

// contextConfig is how to reach the cluster of a context; without a name, of the
// current one.
func (o *options) contextConfig(name string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: name}).ClientConfig()
}

func (o *options) fromTerraform(ctx context.Context, input io.Reader) ([]member, error) {
	if o.terraform != "-" {
		file, err := os.Open(o.terraform)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		input = file
	}
	content, err := io.ReadAll(input)
	if err != nil {
		return nil, fmt.Errorf("read the outputs of Terraform: %w", err)
	}
	members, err := parseOutputs(content, o.home)
	if err != nil {
		return nil, fmt.Errorf("outputs of Terraform: %w", err)
	}
	words := strings.Fields(o.tokenCommand)
	if len(words) == 0 {
		return nil, errors.New("--token-command is empty")
	}
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stderr = os.Stderr
	token, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.tokenCommand, err)
	}
	for i := range members {
		members[i].config.BearerToken = strings.TrimSpace(string(token))
	}
	return members, nil
}

// outputs are what this reads of terraform output -json.
type outputs struct {
	Clusters struct {
		Value map[string]struct {
			Endpoint      string `json:"endpoint"`
			CACertificate string `json:"ca_certificate"`
			Domain        string `json:"domain"`
		} `json:"value"`
	} `json:"clusters"`
	HomeRegion struct {
		Value string `json:"value"`
	} `json:"home_region"`
}

// parseOutputs lists the clusters of all regions but the operator's own, by
// region.
func parseOutputs(content []byte, home string) ([]member, error) {
	var parsed outputs
	if err := json.Unmarshal(content, &parsed); err != nil {
		return nil, err
	}
	clusters := parsed.Clusters.Value
	if len(clusters) == 0 {
		return nil, errors.New("there is no output clusters")
	}
	if home == "" {
		home = parsed.HomeRegion.Value
	}
	if _, ok := clusters[home]; !ok {
		return nil, fmt.Errorf("the region of the operator's own cluster is %q, which has none; there are %s: set --home",
			home, strings.Join(slices.Sorted(maps.Keys(clusters)), ", "))
	}
	var members []member
	for _, region := range slices.Sorted(maps.Keys(clusters)) {
		if region == home {
			continue
		}
		cluster := clusters[region]
		authority, err := base64.StdEncoding.DecodeString(cluster.CACertificate)
		if err != nil || len(authority) == 0 {
			return nil, fmt.Errorf("cluster %s: ca_certificate is not base64 of a certificate", region)
		}
		if cluster.Endpoint == "" || cluster.Domain == "" {
			return nil, fmt.Errorf("cluster %s: endpoint or domain is empty", region)
		}
		members = append(members, member{name: region, domain: cluster.Domain, config: &rest.Config{
			Host:            "https://" + strings.TrimPrefix(cluster.Endpoint, "https://"),
			TLSClientConfig: rest.TLSClientConfig{CAData: authority},
		}})
	}
	return members, nil
}
