// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/tuning"
)

const (
	// interval is how often the machine is looked at.
	interval = 2 * time.Second
	// driftMemory is how long a setting counts as drifted that was changed by
	// somebody else, so that whoever looks now and then sees it.
	driftMemory = time.Minute
	// maxMessageBytes is the longest message about a setting.
	maxMessageBytes = 256
)

// Options are what an agent is told.
type Options struct {
	// Tuning is the name of the NodeTuning, and Machine that of the Node.
	Tuning, Machine string
	// Settings are what the machine is to have. Without any, the old values of
	// what this NodeTuning changed are put back and nothing is set.
	Settings *v1alpha1.NodeTuningSettings
	// SettingsHash tells those settings from others.
	SettingsHash string
	// Sysctls is where the machine's /proc/sys/net is.
	Sysctls string
	// StateFolder is a folder that outlives the agent, but not the kernel.
	StateFolder string
	Log         *slog.Logger
}

// Agent keeps the settings of one machine.
type Agent struct {
	options Options
	machine machine
	journal *journal
	now     func() time.Time
	// applied are the values that were read back as wanted, and drifts what
	// somebody else made of some.
	applied map[identity]bool
	drifts  map[identity]drift
	latest  latest
	asked   asked
}

// drift is what somebody else made of a value.
type drift struct {
	found, wanted string
	last          time.Time
	times         int
}

// New makes an agent, which takes over what earlier ones noted.
func New(options *Options) (*Agent, error) {
	journal, err := openJournal(options.StateFolder)
	if err != nil {
		return nil, err
	}
	return &Agent{
		options: *options,
		machine: machine{sysctls: options.Sysctls},
		journal: journal,
		now:     time.Now,
		applied: map[identity]bool{},
		drifts:  map[identity]drift{},
		asked:   newAsked(),
	}, nil
}

// Run keeps the settings until the context ends, and leaves them then as they
// are: whether the machine is to keep them is not for an agent to say that ends.
// It touches nothing before it serves: whoever has the port is the only agent of
// the machine.
func (a *Agent) Run(ctx context.Context, listener net.Listener) error {
	stop := a.serve(listener)
	a.keep(ctx)
	return stop()
}

// keep looks at the machine until the context ends.
func (a *Agent) keep(ctx context.Context) {
	if a.first() {
		select {
		case <-ctx.Done():
			return
		case <-a.asked.signal:
		}
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		a.round()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// first says whether this is the first agent of its NodeTuning that changes this
// machine. It waits until it is asked for its report, because whoever asks has
// noted the machine before, and so knows where old values are to be put back.
func (a *Agent) first() bool {
	return a.sets() && !slices.ContainsFunc(a.journal.notes, a.owns)
}

// sets tells an agent with settings from one that only puts old values back.
func (a *Agent) sets() bool { return len(tuning.Settings(a.options.Settings)) > 0 }

// owns says whether a value was changed for this NodeTuning, or nobody knows for
// which.
func (a *Agent) owns(note note) bool { return note.Tuning == a.options.Tuning || note.Tuning == "" }

// keeps says whether a value stays as it is. What another NodeTuning changed is
// put back by an agent that has this machine now, but not by one that is here to
// put its own back.
func (a *Agent) keeps(note note, wanted map[string]bool) bool {
	return wanted[note.Setting] || !a.sets() && !a.owns(note)
}

// round brings every value to what is wanted, puts back what no longer is, and
// reports.
func (a *Agent) round() {
	report := &tuning.Report{
		Tuning:       a.options.Tuning,
		Machine:      a.options.Machine,
		SettingsHash: a.options.SettingsHash,
	}
	wanted := map[string]bool{}
	for _, setting := range tuning.Settings(a.options.Settings) {
		wanted[setting.Name] = true
		report.Settings = append(report.Settings, a.set(&setting))
	}
	if err := a.putBack(wanted); err != nil {
		report.Trouble = clip(err.Error())
	}
	for _, note := range a.journal.notes {
		if a.sets() || a.owns(note) {
			report.Held++
		}
	}
	a.tell(report)
}

// set brings a setting's values, of which a machine may have several, to what
// is wanted.
func (a *Agent) set(setting *tuning.Setting) tuning.SettingReport {
	targets, err := a.machine.targets(setting)
	if err != nil {
		return tuning.SettingReport{Name: setting.Name, State: v1alpha1.SettingUnavailable, Message: clip(err.Error())}
	}
	report := tuning.SettingReport{Name: setting.Name, State: v1alpha1.SettingApplied}
	var unavailable []error
	for _, target := range targets {
		identity := identity{setting.Name, setting.Kind, target}
		if err := a.setValue(identity, setting.Value); err != nil {
			unavailable = append(unavailable, err)
			continue
		}
		if words := a.drifted(identity); words != "" {
			report.State, report.Message = v1alpha1.SettingDrifted, clip(words)
		}
	}
	if len(unavailable) > 0 {
		report.State, report.Message = v1alpha1.SettingUnavailable, clip(errors.Join(unavailable...).Error())
	}
	return report
}

// setValue brings one value to what is wanted, and notes before what it was.
func (a *Agent) setValue(identity identity, wanted string) error {
	value, err := a.machine.value(identity)
	if err != nil {
		return err
	}
	now, err := value.read()
	if err != nil {
		return err
	}
	if same(identity.Kind, now, wanted) {
		a.applied[identity] = true
		return a.journal.claim(identity, a.options.Tuning)
	}
	if a.applied[identity] {
		a.noteDrift(identity, now, wanted)
	}
	delete(a.applied, identity)

	if !a.journal.has(identity) {
		original, err := value.original()
		if err != nil {
			return err
		}
		if err := a.journal.add(note{identity, original, a.options.Tuning}); err != nil {
			return fmt.Errorf("%s stays as it is: %w", identity, err)
		}
		if err := value.write(wanted); err != nil {
			// It was not changed, so there is nothing to put back.
			return errors.Join(err, a.journal.remove(identity))
		}
	} else if err := errors.Join(a.journal.claim(identity, a.options.Tuning), value.write(wanted)); err != nil {
		return err
	}

	if now, err = value.read(); err != nil {
		return err
	}
	if !same(identity.Kind, now, wanted) {
		return fmt.Errorf("the kernel makes %s of %s, which was set to %s", now, identity, wanted)
	}
	a.applied[identity] = true
	a.options.Log.Info("set", "value", identity.String(), "to", wanted)
	return nil
}

func (a *Agent) noteDrift(identity identity, found, wanted string) {
	seen := a.drifts[identity]
	a.drifts[identity] = drift{found: found, wanted: wanted, last: a.now(), times: seen.times + 1}
	a.options.Log.Warn("somebody else changed a value", "value", identity.String(), "to", found, "wanted", wanted)
}

// drifted says what somebody else made of a value not long ago.
func (a *Agent) drifted(identity identity) string {
	drift, found := a.drifts[identity]
	if !found || a.now().Sub(drift.last) >= driftMemory {
		return ""
	}
	return fmt.Sprintf("%s was %s at %s and was put back to %s; it was changed %s since the agent started",
		identity, drift.found, drift.last.UTC().Format(time.RFC3339), drift.wanted, times(drift.times))
}

func times(count int) string {
	if count == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", count)
}

// putBack restores the noted values but those that stay. What could not be put
// back stays noted.
func (a *Agent) putBack(wanted map[string]bool) error {
	var failed error
	for _, note := range a.journal.inOrder() {
		if a.keeps(note, wanted) {
			continue
		}
		if err := a.restore(note); err != nil {
			failed = errors.Join(failed, fmt.Errorf("put %s back to %s: %w", note.identity, note.Original, err))
		}
	}
	return failed
}

func (a *Agent) restore(note note) error {
	value, err := a.machine.value(note.identity)
	if err != nil {
		return err
	}
	if err := value.restore(note.Original); err != nil {
		return err
	}
	if err := a.journal.remove(note.identity); err != nil {
		return err
	}
	delete(a.applied, note.identity)
	a.options.Log.Info("put back", "value", note.String(), "to", note.Original)
	return nil
}
