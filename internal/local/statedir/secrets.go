// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"bytes"
	"fmt"
	"os"

	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// Secrets are what only one validator knows.
type Secrets struct {
	Key        keys.Key
	AdminToken string
}

// makeSecrets makes the folder of every validator, with its secrets.
func makeSecrets(dir NetworkDir, plan *topology.Plan) (map[string]Secrets, error) {
	made := make(map[string]Secrets, len(plan.Nodes))
	for _, validator := range plan.Nodes {
		key, err := keys.Generate()
		if err != nil {
			return nil, fmt.Errorf("make the key of validator %s: %w", validator.Name, err)
		}
		token := keys.NewAdminToken()
		node := dir.Node(validator.Name)
		if err := os.MkdirAll(string(node), DirMode); err != nil {
			return nil, err
		}
		if err := wholefile.Write(node.Key(), key.File(), SecretMode); err != nil {
			return nil, err
		}
		if err := wholefile.Write(node.AdminToken(), []byte(token), SecretMode); err != nil {
			return nil, err
		}
		made[validator.Name] = Secrets{Key: key, AdminToken: token}
	}
	return made, nil
}

// readSecrets reads what makeSecrets made.
func readSecrets(dir NetworkDir, plan *topology.Plan) (map[string]Secrets, error) {
	read := make(map[string]Secrets, len(plan.Nodes))
	for _, validator := range plan.Nodes {
		secrets, err := dir.Node(validator.Name).Secrets()
		if err != nil {
			return nil, err
		}
		read[validator.Name] = secrets
	}
	return read, nil
}

// Secrets reads those of a node.
func (d NodeDir) Secrets() (Secrets, error) {
	content, err := os.ReadFile(d.Key())
	if err != nil {
		return Secrets{}, err
	}
	key, err := keys.Parse(content)
	if err != nil {
		return Secrets{}, fmt.Errorf("read %s: %w", d.Key(), err)
	}
	token, err := os.ReadFile(d.AdminToken())
	if err != nil {
		return Secrets{}, err
	}
	return Secrets{Key: key, AdminToken: string(bytes.TrimSpace(token))}, nil
}
