// SPDX-License-Identifier: Apache-2.0

package result

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Environment is the machine that a benchmark ran on. Of a cluster it is what all machines
// of all runs have in common, as far as the cluster tells.
type Environment struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	// Kernel is the release of the kernel.
	Kernel   string `json:"kernel,omitempty"`
	CPUModel string `json:"cpuModel,omitempty"`
	// CPUs is the number of processors that programs can use; 0 when the nodes were on
	// machines of a cluster.
	CPUs int `json:"cpus"`
	// MemoryBytes is the memory of the machine.
	MemoryBytes *uint64 `json:"memoryBytes,omitempty"`
	// FileSystem is the type of the file system that the nodes' data is on.
	FileSystem string `json:"fileSystem,omitempty"`
	// LoadAverage is how many processes wanted to run in the minute before the
	// benchmark began.
	LoadAverage *float64 `json:"loadAverage,omitempty"`
	// Network is the network that was measured, if it was there before; absent when
	// each run had one of its own.
	Network *Network `json:"network,omitempty"`
}

// Machines are machines of one kind.
type Machines struct {
	Count int `json:"count"`
	// Type is what the cloud calls the kind; empty where nobody says.
	Type         string `json:"type,omitempty"`
	OS           string `json:"os,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	// Kernel is the release of the kernel, and System the distribution around it.
	Kernel string `json:"kernel,omitempty"`
	System string `json:"system,omitempty"`
	// CPUs and MemoryBytes are what each of them has, what is the system's included.
	// Memory is in whole steps of 256 MiB: machines of one kind differ by some pages.
	CPUs        int64 `json:"cpus,omitempty"`
	MemoryBytes int64 `json:"memoryBytes,omitempty"`
}

// String is what the machines are, without their number.
func (m Machines) String() string {
	parts := []string{m.Type}
	if m.CPUs > 0 {
		parts = append(parts, fmt.Sprintf("%d processors", m.CPUs))
	}
	if m.MemoryBytes > 0 {
		parts = append(parts, fmt.Sprintf("%d MiB", m.MemoryBytes>>20))
	}
	parts = append(parts, strings.Join(strings.Fields(m.OS+" "+m.Architecture+" "+m.Kernel), " "), m.System)
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// Network is a network that was there before a benchmark.
type Network struct {
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	// Height is the last block that was finalised before the first run's load began.
	Height uint64 `json:"height"`
}

// Program is a program that took part.
type Program struct {
	// Path is where the program was.
	Path string `json:"path,omitempty"`
	// Image is the container image that had the program.
	Image string `json:"image,omitempty"`
	// ImageID is what the name of the image came to where it ran: with a digest.
	ImageID string `json:"imageID,omitempty"`
	// SHA256 identifies the file of the program.
	SHA256 string `json:"sha256,omitempty"`
	// Version is what the program calls itself.
	Version string `json:"version,omitempty"`
}
