// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"fmt"
	"os"

	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// secrets are what only one validator knows.
type secrets struct {
	key        keys.Key
	adminToken string
}

// makeSecrets makes the folder of every validator, with its secrets.
func makeSecrets(dir networkDir, plan *topology.Plan) (map[string]secrets, error) {
	made := make(map[string]secrets, len(plan.Nodes))
	for _, validator := range plan.Nodes {
		key, err := keys.Generate()
		if err != nil {
			return nil, fmt.Errorf("make the key of validator %s: %w", validator.Name, err)
		}
		token := keys.NewAdminToken()
		node := dir.node(validator.Name)
		if err := os.MkdirAll(string(node), dirMode); err != nil {
			return nil, err
		}
		if err := wholefile.Write(node.key(), key.File(), secretMode); err != nil {
			return nil, err
		}
		if err := wholefile.Write(node.adminToken(), []byte(token), secretMode); err != nil {
			return nil, err
		}
		made[validator.Name] = secrets{key: key, adminToken: token}
	}
	return made, nil
}

// readSecrets reads what makeSecrets made.
func readSecrets(dir networkDir, plan *topology.Plan) (map[string]secrets, error) {
	read := make(map[string]secrets, len(plan.Nodes))
	for _, validator := range plan.Nodes {
		secrets, err := dir.node(validator.Name).secrets()
		if err != nil {
			return nil, err
		}
		read[validator.Name] = secrets
	}
	return read, nil
}

// secrets reads those of a node.
func (d nodeDir) secrets() (secrets, error) {
	content, err := os.ReadFile(d.key())
	if err != nil {
		return secrets{}, err
	}
	key, err := keys.Parse(content)
	if err != nil {
		return secrets{}, fmt.Errorf("read %s: %w", d.key(), err)
	}
	token, err := os.ReadFile(d.adminToken())
	if err != nil {
		return secrets{}, err
	}
	return secrets{key: key, adminToken: string(bytes.TrimSpace(token))}, nil
}
