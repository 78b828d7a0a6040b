// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// sampleTimeout is how long a validator may take to tell its status. One that
// hangs must not delay what the others tell.
const sampleTimeout = time.Second

// node is one validator that is asked.
type node struct {
	validator topology.Validator
	client    *chain.Client
	// last is what it told last; nil before it told anything.
	last *chain.Status
}

// nodes are all validators of a network.
type nodes []node

func newNodes(options *Options) nodes {
	all := make(nodes, 0, len(options.Validators))
	for _, validator := range options.Validators {
		var admin chain.Admin
		if options.Steering != nil && validator.Role == topology.RoleProducer {
			admin = options.Steering.Admin(validator.Name)
		}
		all = append(all, node{validator: validator, client: chain.NewClient(options.Address(validator.Name), admin)})
	}
	return all
}

func (n nodes) close() {
	for i := range n {
		n[i].client.Close()
	}
}

// ask asks all at the same time. Of those that give no answer there is none.
func (n nodes) ask(ctx context.Context) []*chain.Status {
	answers := make([]*chain.Status, len(n))
	var asked sync.WaitGroup
	for i := range n {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
			defer cancel()
			if status, err := n[i].client.Status(ctx); err == nil {
				answers[i] = status
			}
		})
	}
	asked.Wait()
	return answers
}

// keep keeps answers for the next time, and says which validator started again
// since it answered last: its counters began anew.
func (n nodes) keep(answers []*chain.Status) (restarted string) {
	for i, status := range answers {
		if status == nil {
			continue
		}
		if last := n[i].last; last != nil && beganAnew(last, status) && restarted == "" {
			restarted = fmt.Sprintf("validator %s ended in the middle and was started again", n[i].validator.Name)
		}
		n[i].last = status
	}
	return restarted
}

// beganAnew says whether a node is another process than it was: it says that it began
// with another block, or its counters are less. They alone do not tell it, as what a node
// does to come back may cost more than it had used before. One that has no block yet has
// begun with none, and begins with the first that it gets.
func beganAnew(last, now *chain.Status) bool {
	return last.StartedHeight != 0 && now.StartedHeight != last.StartedHeight ||
		now.CPUSeconds < last.CPUSeconds ||
		last.Load != nil && now.Load != nil && now.Load.Signed < last.Load.Signed
}

// offered is the rate that all producers sign together, as they told last, and
// whether all of them told it now.
func (n nodes) offered(answers []*chain.Status) (rate int64, known bool) {
	known = true
	for i := range n {
		if n[i].validator.Role != topology.RoleProducer {
			continue
		}
		if last := n[i].last; last != nil && last.Load != nil {
			rate += last.Load.TransfersPerSecond
		}
		known = known && answers[i] != nil && answers[i].Load != nil
	}
	return rate, known
}

// sample is what answers come to, but for what was asked of the nodes.
func (n nodes) sample(at time.Time, answers []*chain.Status) record.Sample {
	sample := record.Sample{At: at}
	for i := range n {
		sample.Nodes = append(sample.Nodes, record.Node{
			Validator: n[i].validator, Status: answers[i], Usage: usage(answers[i]),
		})
	}
	sample.Host = machines(answers)
	return sample
}

// usage is what a node tells of its process.
func usage(status *chain.Status) record.Usage {
	if status == nil {
		return record.Usage{}
	}
	usage := record.Usage{CPUSeconds: &status.CPUSeconds}
	if memory := status.Memory; memory != nil {
		usage.MemoryBytes, usage.FileMemoryBytes = &memory.AnonymousBytes, &memory.FileBytes
	}
	if disk := status.Disk; disk != nil {
		usage.DiskReadBytes, usage.DiskWrittenBytes = &disk.ReadBytes, &disk.WrittenBytes
	}
	return usage
}

// machines is what the machines of all nodes did. One that has more nodes counts
// for each of them: what becomes a figure is the share of the time that was
// stolen, and that is then the share of which nodes felt it.
func machines(answers []*chain.Status) record.Host {
	var busy, stolen float64
	for _, status := range answers {
		if status == nil || status.Machine == nil {
			return record.Host{}
		}
		busy += status.Machine.BusySeconds
		stolen += status.Machine.StolenSeconds
	}
	return record.Host{BusySeconds: &busy, StolenSeconds: &stolen}
}

// sources are the nodes that answered, which can tell blocks.
func (n nodes) sources(answers []*chain.Status) []record.Source {
	var sources []record.Source
	for i, status := range answers {
		if status != nil {
			sources = append(sources, record.Source{
				Name: n[i].validator.Name, FinalizedHeight: status.FinalizedHeight, Blocks: n[i].client,
			})
		}
	}
	return sources
}

// tellers are all nodes, which can tell what they counted.
func (n nodes) tellers() []record.Teller {
	tellers := make([]record.Teller, 0, len(n))
	for i := range n {
		tellers = append(tellers, record.Teller{Name: n[i].validator.Name, Metrics: n[i].client})
	}
	return tellers
}
