// SPDX-License-Identifier: Apache-2.0

package joining

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

// Member is a cluster to join.
type Member struct {
	// Name is what regions name it by.
	Name string
	// Domain is that of its DNS names.
	Domain string
	// config reaches it with rights to make accounts and roles.
	config *rest.Config
}

// Outputs are Terraform's, of which clusters are made members.
type Outputs struct {
	// File holds what terraform output -json prints; - for standard input.
	File string
	// Home is the region of the operator's own cluster; that of the output home_region
	// when empty.
	Home string
	// TokenCommand prints a token which may make accounts and roles in the clusters.
	TokenCommand string
}

// OfContexts are the clusters of contexts of a kubeconfig, each as
// NAME=CONTEXT,DOMAIN.
func OfContexts(rules *clientcmd.ClientConfigLoadingRules, arguments []string) ([]Member, error) {
	members := make([]Member, 0, len(arguments))
	for _, argument := range arguments {
		name, place, _ := strings.Cut(argument, "=")
		// Names of contexts may hold commas, domains may not.
		comma := strings.LastIndex(place, ",")
		if name == "" || comma < 1 || comma == len(place)-1 {
			return nil, fmt.Errorf("%q is not NAME=CONTEXT,DOMAIN", argument)
		}
		config, err := contextConfig(rules, place[:comma])
		if err != nil {
			return nil, fmt.Errorf("cluster %s: %w", name, err)
		}
		members = append(members, Member{Name: name, Domain: place[comma+1:], config: config})
	}
	return members, nil
}

func contextConfig(rules *clientcmd.ClientConfigLoadingRules, name string) (*rest.Config, error) {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: name}).ClientConfig()
}

// Members are the clusters of all regions but the operator's own.
func (o *Outputs) Members(ctx context.Context, input io.Reader, stderr io.Writer) ([]Member, error) {
	if o.File != "-" {
		file, err := os.Open(o.File)
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
	members, err := parseOutputs(content, o.Home)
	if err != nil {
		return nil, fmt.Errorf("outputs of Terraform: %w", err)
	}
	words := strings.Fields(o.TokenCommand)
	if len(words) == 0 {
		return nil, errors.New("--token-command is empty")
	}
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stderr = stderr
	token, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.TokenCommand, err)
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
func parseOutputs(content []byte, home string) ([]Member, error) {
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
	var members []Member
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
		members = append(members, Member{Name: region, Domain: cluster.Domain, config: &rest.Config{
			Host:            "https://" + strings.TrimPrefix(cluster.Endpoint, "https://"),
			TLSClientConfig: rest.TLSClientConfig{CAData: authority},
		}})
	}
	return members, nil
}
