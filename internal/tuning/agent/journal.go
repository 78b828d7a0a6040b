// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/shardyard/shardyard/internal/tuning"
)

// journalFile is the journal, in a folder that outlives the agent.
const journalFile = "node-tuning.json"

// note is a value that was changed, and what it was before.
type note struct {
	identity
	Original string `json:"original"`
	// Tuning is the NodeTuning that it was changed for.
	Tuning string `json:"tuning,omitempty"`
}

// journal are the values that the agents of this machine have changed and not
// put back.
type journal struct {
	path  string
	notes []note
}

// openJournal reads what earlier agents left.
func openJournal(folder string) (*journal, error) {
	j := &journal{path: filepath.Join(folder, journalFile)}
	content, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	if err := json.Unmarshal(content, &j.notes); err != nil {
		return nil, fmt.Errorf("read journal %s: %w", j.path, err)
	}
	return j, nil
}

func (j *journal) has(identity identity) bool {
	return slices.ContainsFunc(j.notes, func(note note) bool { return note.identity == identity })
}

// add notes an old value before it is changed.
func (j *journal) add(note note) error {
	return j.replace(append(slices.Clone(j.notes), note))
}

// claim notes that a value which was changed, if it was, is now another
// NodeTuning's. What it was before stays what it was before.
func (j *journal) claim(identity identity, tuning string) error {
	at := slices.IndexFunc(j.notes, func(note note) bool { return note.identity == identity })
	if at < 0 || j.notes[at].Tuning == tuning {
		return nil
	}
	notes := slices.Clone(j.notes)
	notes[at].Tuning = tuning
	return j.replace(notes)
}

// remove forgets a value that is as it was before.
func (j *journal) remove(identity identity) error {
	return j.replace(slices.DeleteFunc(slices.Clone(j.notes), func(note note) bool { return note.identity == identity }))
}

// replace writes the journal as a whole: an agent that is killed leaves either
// the old one or the new one. What is kept must survive the agent, not the
// kernel, so it need not reach a disk.
func (j *journal) replace(notes []note) error {
	content, err := json.Marshal(notes)
	if err != nil {
		return fmt.Errorf("encode journal: %w", err)
	}
	next := j.path + ".next"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := os.Rename(next, j.path); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	j.notes = notes
	return nil
}

// inOrder are the notes in the order in which values are put back.
func (j *journal) inOrder() []note {
	return slices.SortedStableFunc(slices.Values(j.notes), func(a, b note) int {
		return cmp.Compare(tuning.Order(a.Setting), tuning.Order(b.Setting))
	})
}
