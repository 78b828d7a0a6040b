// SPDX-License-Identifier: Apache-2.0

package bench

import "time"

// minSteadyWindow is the least window under the last rate of a ramp that says
// more than the whole run.
const minSteadyWindow = 10 * time.Second

// Window picks what a run is measured over. That is the time from the beginning
// of the load's last step to the end of the run when it is at least ten
// seconds, and the whole run otherwise.
type Window struct {
	// Begin is when the load began.
	Begin time.Time
	// Settled is when the last step of the load begins, counted from Begin.
	Settled time.Duration

	whole, steady *Sample
}

// Observe takes the next sample of the run. The first one begins the whole run.
func (w *Window) Observe(sample Sample) {
	best := sample.Best()
	if best == nil {
		return
	}
	if w.whole == nil {
		w.whole = &sample
	}
	// The last finalised block may be of before the last step.
	settled := time.UnixMilli(best.FinalizedTimeMs).Sub(w.Begin) >= w.Settled
	if w.steady == nil && w.Settled > 0 && settled {
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
