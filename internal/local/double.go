// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// double is a program that takes the place of a validator while a fault lasts. It has
// the validator's key, its ports and its log, and writes to a copy of its data: what it
// makes of that is not what the validator goes on from.
type double struct {
	fault.Program

	// prepared says that its files are there.
	prepared bool
}

// prepare makes the files of a double, from those of a validator that has ended.
func (d *double) prepare(dir nodeDir) error {
	if d.prepared {
		// It was started before, and goes on from what it wrote.
		return nil
	}
	if err := dir.removeDouble(); err != nil {
		return err
	}
	if err := os.CopyFS(dir.doubleData(), os.DirFS(dir.data())); err != nil {
		return fmt.Errorf("copy the data of the validator: %w", err)
	}
	content, err := os.ReadFile(dir.config())
	if err != nil {
		return err
	}
	var config nodeconfig.Config
	if err := json.Unmarshal(content, &config); err != nil {
		return fmt.Errorf("read %s: %w", dir.config(), err)
	}
	config.DataDir = filepath.Base(dir.doubleData())
	if content, err = nodeconfig.Encode(&config); err != nil {
		return err
	}
	if err := wholefile.Write(dir.doubleConfig(), content, fileMode); err != nil {
		return err
	}
	d.prepared = true
	return nil
}

// command is what is run in the place of a validator.
func (d *double) command(dir nodeDir) (program string, arguments []string) {
	arguments = append(arguments, d.Arguments...)
	return d.Path, append(arguments, "run", "--config", dir.doubleConfig())
}

func (d nodeDir) doubleConfig() string { return d.path("double.json") }
func (d nodeDir) doubleData() string   { return d.path("double") }

// removeDouble removes what a double has left, if there was one.
func (d nodeDir) removeDouble() error {
	if err := os.RemoveAll(d.doubleData()); err != nil {
		return err
	}
	return os.RemoveAll(d.doubleConfig())
}
