// SPDX-License-Identifier: Apache-2.0

package nodeconfig

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// Config is the configuration of one node.
type Config struct {
	Network       string        `json:"network"`
	Node          string        `json:"node"`
	Region        string        `json:"region"`
	Role          topology.Role `json:"role"`
	GenesisFile   string        `json:"genesisFile"`
	KeyFile       string        `json:"keyFile"`
	DataDir       string        `json:"dataDir"`
	WorkerThreads int32         `json:"workerThreads,omitempty"`
	P2P           P2PConfig     `json:"p2p"`
	HTTP          HTTPConfig    `json:"http"`
	Admin         *AdminConfig  `json:"admin,omitempty"`
	Storage       StorageConfig `json:"storage"`
	Features      Features      `json:"features"`
	Log           LogConfig     `json:"log"`
	Tracing       *Tracing      `json:"tracing,omitempty"`
	Links         []Link        `json:"links,omitempty"`
}

// P2PConfig is the node's place among its peers.
type P2PConfig struct {
	Listen    string `json:"listen"`
	PeersFile string `json:"peersFile"`
}

// HTTPConfig is the node's HTTP API.
type HTTPConfig struct {
	Listen string `json:"listen"`
}

// AdminConfig is the node's admin API.
type AdminConfig struct {
	Listen    string `json:"listen"`
	TokenFile string `json:"tokenFile"`
}

// StorageConfig says how the node keeps its state.
type StorageConfig struct {
	Engine                 v1alpha1.StorageEngine `json:"engine"`
	SnapshotIntervalBlocks int32                  `json:"snapshotIntervalBlocks"`
	RetentionBlocks        int32                  `json:"retentionBlocks"`
}

// Features are the named switches of the node's hot path.
type Features struct {
	SignatureBatchSize      int32           `json:"signatureBatchSize"`
	MempoolCapacity         int32           `json:"mempoolCapacity"`
	MempoolMebibytes        int32           `json:"mempoolMebibytes"`
	AdaptiveChunkSize       v1alpha1.Switch `json:"adaptiveChunkSize"`
	SaveUntrackedChunkParts v1alpha1.Switch `json:"saveUntrackedChunkParts"`
}

// LogConfig says what the node logs, and how.
type LogConfig struct {
	Level  string    `json:"level"`
	Format LogFormat `json:"format"`
}

// Tracing says which heights the node traces, and where its spans go.
type Tracing struct {
	Endpoint          string `json:"endpoint"`
	SampleBasisPoints int32  `json:"sampleBasisPoints"`
}

// Link is what lies between the node's region and another one, or between the
// nodes of its own. What is 0 is not there.
type Link struct {
	Region                     string `json:"region"`
	DelayMilliseconds          int    `json:"delayMilliseconds,omitempty"`
	LossBasisPoints            int    `json:"lossBasisPoints,omitempty"`
	BandwidthMegabitsPerSecond int    `json:"bandwidthMegabitsPerSecond,omitempty"`
}

// LogFormat is the form of a line of the log.
type LogFormat string

const (
	// LogFormatText is for people.
	LogFormatText LogFormat = "text"
	// LogFormatJSON is for machines.
	LogFormatJSON LogFormat = "json"
)

// Host is where one validator runs: what differs between a pod and a process
// of this machine.
type Host struct {
	// Files are where the node finds its files.
	Files Files
	// P2PListen is the IP address and port of p2p.
	P2PListen string
	// HTTPListen is the IP address and port of the HTTP API.
	HTTPListen string
	// AdminListen is the IP address and port of the admin API.
	AdminListen string
	// WorkerThreads is the number of threads for network and CPU work; 0 leaves
	// it to the node.
	WorkerThreads int32
	// LogFormat is the form of the log.
	LogFormat LogFormat
	// Tracing is where this place has spans sent, instead of where the network
	// says; nil leaves it to the network.
	Tracing *Tracing
}

// NewConfig makes the configuration of a validator of a plan.
func NewConfig(
	network *v1alpha1.ShardNetwork,
	plan *topology.Plan,
	validator topology.Validator,
	host Host,
) (*Config, error) {
	for _, listen := range []struct{ kind, address string }{
		{"p2p", host.P2PListen}, {"http", host.HTTPListen}, {"admin", host.AdminListen},
	} {
		if _, err := netip.ParseAddrPort(listen.address); err != nil {
			return nil, fmt.Errorf("%s listen address of validator %s: %w", listen.kind, validator.Name, err)
		}
	}

	node := network.Spec.Node
	return &Config{
		Network:       network.Name,
		Node:          validator.Name,
		Region:        validator.Region,
		Role:          validator.Role,
		GenesisFile:   host.Files.Genesis,
		KeyFile:       host.Files.Key,
		DataDir:       host.Files.Data,
		WorkerThreads: host.WorkerThreads,
		P2P:           P2PConfig{Listen: host.P2PListen, PeersFile: host.Files.Peers},
		HTTP:          HTTPConfig{Listen: host.HTTPListen},
		Admin:         &AdminConfig{Listen: host.AdminListen, TokenFile: host.Files.AdminToken},
		Storage: StorageConfig{
			Engine:                 node.Storage.Engine,
			SnapshotIntervalBlocks: node.Storage.SnapshotIntervalBlocks,
			RetentionBlocks:        node.Storage.RetentionBlocks,
		},
		Features: Features{
			SignatureBatchSize:      ptr.Deref(node.Features.SignatureBatchSize, 0),
			MempoolCapacity:         node.Features.MempoolCapacity,
			MempoolMebibytes:        node.Features.MempoolMebibytes,
			AdaptiveChunkSize:       node.Features.AdaptiveChunkSize,
			SaveUntrackedChunkParts: node.Features.SaveUntrackedChunkParts,
		},
		Log: LogConfig{
			Level:  strings.ToLower(string(node.Log.Level)),
			Format: host.LogFormat,
		},
		Tracing: newTracing(network, host),
		Links:   newLinks(plan, validator.Region),
	}, nil
}

// newLinks are the links that end in a region, by where they lead.
func newLinks(plan *topology.Plan, region string) []Link {
	var links []Link
	for _, link := range plan.Links {
		to, ok := link.To(region)
		if !ok {
			continue
		}
		links = append(links, Link{
			Region:                     to,
			DelayMilliseconds:          link.DelayMilliseconds,
			LossBasisPoints:            link.LossBasisPoints,
			BandwidthMegabitsPerSecond: link.BandwidthMegabitsPerSecond,
		})
	}
	slices.SortFunc(links, func(a, b Link) int { return strings.Compare(a.Region, b.Region) })
	return links
}

func newTracing(network *v1alpha1.ShardNetwork, host Host) *Tracing {
	tracing := network.Spec.Tracing
	if host.Tracing != nil || tracing == nil {
		return host.Tracing
	}
	return &Tracing{Endpoint: tracing.Endpoint, SampleBasisPoints: tracing.SampleBasisPoints}
}
