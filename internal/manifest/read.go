// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"io"
	"os"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// maxBytes is the most that the API server takes in one request.
const maxBytes = 3 << 20

// Read reads the one ShardNetwork of a file, in YAML or JSON, and validates it
// as the API server would when it is created. Defaults are filled in. The error
// is an InvalidError when the file holds a ShardNetwork that is refused.
func Read(path string) (*v1alpha1.ShardNetwork, error) {
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	network, err := Parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return network, nil
}

// ReadBenchmark reads the one Benchmark of a file like Read.
func ReadBenchmark(path string) (*v1alpha1.Benchmark, error) {
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	benchmark, err := ParseBenchmark(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return benchmark, nil
}

// ReadBenchmarkSchedule reads the one BenchmarkSchedule of a file like Read.
func ReadBenchmarkSchedule(path string) (*v1alpha1.BenchmarkSchedule, error) {
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	schedule, err := ParseBenchmarkSchedule(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return schedule, nil
}

// ReadFault reads the one Fault of a file like Read.
func ReadFault(path string) (*v1alpha1.Fault, error) {
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	fault, err := ParseFault(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return fault, nil
}

// ReadUpdate reads the one ShardNetwork of a file like Read and validates it as
// the API server would when it takes the place of old.
func ReadUpdate(path string, old *v1alpha1.ShardNetwork) (*v1alpha1.ShardNetwork, error) {
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	network, err := ParseUpdate(content, old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return network, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes, the most that an API server takes", path, maxBytes)
	}
	return content, nil
}
