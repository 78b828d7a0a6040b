// SPDX-License-Identifier: Apache-2.0

package bench

import "time"

// minSteadyWindow is the least window under the last rate of a ramp that says
// more than the whole run.
const minSteadyWindow = 10 * time.Second

// Window picks what a run is measured over. That is the time from the beginning
// of the ramp's last step to the end of the run when it is at least ten
// seconds, and the whole run otherwise.
type Window struct {
	// Begin is when the load began.
	Begin time.Time
	// Settled is when the last step of the load begins, counted from Begin.
	Settled time.Duration

	whole, steady *Sample
}

// Observe takes the next sample of the run. A sample can begin the window when
// the last finalised block is of the time to be measured: after a chain is
// resumed, the first blocks to be finalised may be of before.
func (w *Window) Observe(sample Sample) {
	best := sample.Best()
	if best == nil {
		return
	}
	at := time.UnixMilli(best.FinalizedTimeMs)
	if w.whole == nil && !at.Before(w.Begin) {
		w.whole = &sample
	}
	if w.steady == nil && !at.Before(w.Begin.Add(w.Settled)) {
		w.steady = &sample
	}
}

// Measure measures the run that ends with a sample.
func (w *Window) Measure(last Sample) (Measurement, error) {
	if w.steady != nil {
		if measured, err := Measure(*w.steady, last); err == nil && measured.Window >= minSteadyWindow {
			return measured, nil
		}
	}
	if w.whole == nil {
		return Measurement{}, ErrNoBlocks
	}
	return Measure(*w.whole, last)
}
