// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/local/statedir"
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
func (d *double) prepare(dir statedir.NodeDir) error {
	if d.prepared {
		// It was started before, and goes on from what it wrote.
		return nil
	}
	if err := dir.RemoveDouble(); err != nil {
		return err
	}
	if err := os.CopyFS(dir.DoubleData(), os.DirFS(dir.Data())); err != nil {
		return fmt.Errorf("copy the data of the validator: %w", err)
	}
	content, err := os.ReadFile(dir.Config())
	if err != nil {
		return err
	}
	var config nodeconfig.Config
	if err := json.Unmarshal(content, &config); err != nil {
		return fmt.Errorf("read %s: %w", dir.Config(), err)
	}
	config.DataDir = filepath.Base(dir.DoubleData())
	if content, err = nodeconfig.Encode(&config); err != nil {
		return err
	}
	if err := wholefile.Write(dir.DoubleConfig(), content, statedir.FileMode); err != nil {
		return err
	}
	d.prepared = true
	return nil
}

// command is what is run in the place of a validator.
func (d *double) command(dir statedir.NodeDir) (program string, arguments []string) {
	arguments = append(arguments, d.Arguments...)
	return d.Path, append(arguments, "run", "--config", dir.DoubleConfig())
}
