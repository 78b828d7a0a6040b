// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
)

// memory is what is worth keeping of a network between two reconciliations. A
// restarted operator does without it.
type memory struct {
	uid types.UID

	// lastRun and lastGeneration are of the last reconciliation.
	lastRun        time.Time
	lastGeneration int64
	// failures counts the reconciliations that failed since one did not.
	failures int
	// superseded is true when the last reconciliation was of a network that somebody wrote
	// meanwhile.
	superseded bool
	// lastReport is when the status was last reported.
	lastReport time.Time
	// written is the resource version of the network since its status was last
	// written, and lastWrite when that was.
	written   string
	lastWrite time.Time
	// lastPodMonitor is when the PodMonitor was last looked at, and monitored what
	// was found.
	lastPodMonitor time.Time
	monitored      *metav1.Condition
	// lastRoute is when the route to the rpc nodes was last looked at, and
	// routeGeneration of which spec.
	lastRoute       time.Time
	routeGeneration int64

	// volumes are what was last seen of the validators' claims, by validator,
	// volumesGeneration for which spec, and nextVolumes is when they are looked at
	// again.
	volumes           map[string]policy.Volume
	volumesGeneration int64
	nextVolumes       time.Time
	// lostDisks are the disks that are gone, by node, and newDisk is the node that
	// last got a new one.
	lostDisks map[string]observed.LostDisk
	newDisk   replacing.NewDisk
	// renewed is how many StatefulSets were made anew since there was none to.
	renewed int

	// upToDate holds the objects that were found as they should be: an
	// objectVersion by objectKey.
	upToDate sync.Map

	// nodes are clients of nodes, by what they use.
	nodes map[nodeKey]*chain.Client
	// tcp is what nodes last said of the settings that their kernels use, by pod.
	tcp map[types.UID]*chain.TCP
	// warnings are what the cluster last said of pods and StatefulSets of nodes
	// that do not come up, by name, and warningLooks when it was asked.
	warnings     map[string][]corev1.Event
	warningLooks warningLooks
}

// objectKey names an object of the network.
type objectKey struct{ cluster, kind, name string }

// objectVersion is what was last applied of an object, and which version of it
// the cluster had then.
type objectVersion struct{ applied, live string }

// nodeKey is how a node is reached. Without a public key or a token its admin
// API is not.
type nodeKey struct {
	ip        string
	publicKey string
	token     string
}

// opens says whether the node can be told anything.
func (k nodeKey) opens() bool { return k.publicKey != "" && k.token != "" }

// tooSoon is how long to wait when the last reconciliation was just now, or
// failed like those before it. Another spec never waits. The rate limiter of the
// controller's queue would not do: it holds back neither events, which are most
// of what wakes a network, nor anything once a network asks to be looked at
// again after some time.
func (m *memory) tooSoon(now time.Time, generation int64) time.Duration {
	interval := min(minInterval<<min(m.failures, maxDoublings), maxInterval)
	if wait := interval - now.Sub(m.lastRun); wait > 0 && generation == m.lastGeneration {
		return wait
	}
	m.lastRun, m.lastGeneration = now, generation
	return 0
}

// wrote notes the resource version that the network has since its status was written.
func (m *memory) wrote(resourceVersion string, now time.Time) {
	m.written, m.lastWrite = resourceVersion, now
}

// ahead says whether a network was read as it was before its status was last
// written: a cache hears of that a moment later, and a status made from the one
// before would lack what was noted in it. A cluster that was restored from a backup
// may go on with earlier versions: after a while, what is read counts.
func (m *memory) ahead(resourceVersion string, now time.Time) bool {
	order, err := resourceversion.CompareResourceVersion(resourceVersion, m.written)
	return err == nil && order < 0 && now.Sub(m.lastWrite) < maxCacheLag
}

// done notes how a reconciliation ended.
func (m *memory) done(failed error) {
	if failed == nil {
		m.failures = 0
		return
	}
	m.failures++
}

// forgetNodes closes the clients of all nodes.
func (m *memory) forgetNodes() {
	for _, node := range m.nodes {
		node.Close()
	}
	clear(m.nodes)
}

// memories are those of all networks.
type memories struct {
	lock sync.Mutex
	all  map[types.NamespacedName]*memory
}

// of is the memory of a network; a new network of the same name has a new one.
func (m *memories) of(name types.NamespacedName, uid types.UID) *memory {
	m.lock.Lock()
	defer m.lock.Unlock()
	if known, ok := m.all[name]; ok {
		if known.uid == uid {
			return known
		}
		known.forgetNodes()
	}
	if m.all == nil {
		m.all = map[types.NamespacedName]*memory{}
	}
	m.all[name] = &memory{uid: uid, nodes: map[nodeKey]*chain.Client{}, tcp: map[types.UID]*chain.TCP{}}
	return m.all[name]
}

func (m *memories) forget(name types.NamespacedName) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if known, ok := m.all[name]; ok {
		known.forgetNodes()
		delete(m.all, name)
	}
}
