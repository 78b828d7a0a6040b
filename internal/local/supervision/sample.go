// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"context"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
)

// sampleTimeout is how long a validator may take to tell its status. One that
// hangs must not delay what the others tell.
const sampleTimeout = time.Second

// SampleAll asks validators, all at the same time.
func SampleAll(ctx context.Context, validators []*Supervisor) bench.Sample {
	sample := bench.Sample{Nodes: make([]bench.NodeSample, len(validators))}
	var asked sync.WaitGroup
	for i, validator := range validators {
		asked.Go(func() { sample.Nodes[i] = validator.sample(ctx) })
	}
	asked.Wait()
	return sample
}

// sample asks a validator for its status. What a program says that a fault put in its
// place is not looked at.
func (s *Supervisor) sample(ctx context.Context) bench.NodeSample {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	before := s.Current()
	if before.PID == 0 || before.Byzantine {
		return s.sampleCPU()
	}
	status, err := s.Client.Status(ctx)
	if err != nil {
		return s.sampleCPU()
	}

	s.mu.Lock()
	if s.state.Starts == before.Starts && s.state.PID != 0 {
		s.running = time.Duration(status.CPUSeconds * float64(time.Second))
	}
	s.mu.Unlock()
	sample := s.sampleCPU()
	sample.Status = status
	return sample
}

// sampleCPU is the sample of a validator that does not answer. What its process
// used since it answered last is not known until the process ends.
func (s *Supervisor) sampleCPU() bench.NodeSample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bench.NodeSample{Name: s.Name(), CPU: s.spent + s.running}
}
