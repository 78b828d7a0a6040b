// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	pricefile "github.com/shardyard/shardyard/terraform/modules/cost"
)

// currency is that of all prices: the amounts of a budget are in its name.
const currency = "USD"

// Prices are what machines, disks, clusters and traffic cost, all in USD.
type Prices struct {
	// Date is the day that the prices were read, as in 2026-08-20.
	Date     string `json:"date"`
	Currency string `json:"currency"`
	// HoursPerMonth is what the provider divides prices per month by.
	HoursPerMonth float64  `json:"hoursPerMonth"`
	Sources       []string `json:"sources"`
	// MachineTypes are the hourly prices of machines, by type and region.
	MachineTypes map[string]map[string]float64 `json:"machineTypes"`
	// Disks are the prices of disks, by type and region.
	Disks map[string]map[string]DiskPrices `json:"disks"`
	// ClusterFeePerHour is the price of a cluster's control plane.
	ClusterFeePerHour float64 `json:"clusterFeePerHour"`
	Egress            Egress  `json:"egress"`
}

// DiskPrices are monthly prices of a disk in one region.
type DiskPrices struct {
	GiB   float64 `json:"gibMonth"`
	IOPS  float64 `json:"iopsMonth"`
	MiBps float64 `json:"mibpsMonth"`
	// IOPSIncluded and MiBpsIncluded come with every disk.
	IOPSIncluded  float64 `json:"iopsIncluded"`
	MiBpsIncluded float64 `json:"mibpsIncluded"`
}

// Egress is what traffic costs, and how much of it is assumed.
type Egress struct {
	// InterRegionPerGiB is the price of traffic between two regions that have
	// prices.
	InterRegionPerGiB float64        `json:"interRegionPerGib"`
	Assumed           AssumedTraffic `json:"assumed"`
}

// AssumedTraffic is what a validator sends to the others, and at which load.
type AssumedTraffic struct {
	MiBpsPerNode              float64 `json:"mibpsPerNode"`
	TransfersPerSecondPerNode float64 `json:"transfersPerSecondPerNode"`
}

// ReadPrices reads the prices that this program was built with.
func ReadPrices() (*Prices, error) {
	return ParsePrices(pricefile.Prices)
}

// ParsePrices reads a price file.
func ParsePrices(content []byte) (*Prices, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	prices := &Prices{}
	if err := decoder.Decode(prices); err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	if err := prices.validate(); err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	return prices, nil
}

// validate refuses a file that would let something look cheaper than it is: a
// price that is left out reads as zero.
func (p *Prices) validate() error {
	if _, err := time.Parse(time.DateOnly, p.Date); err != nil {
		return fmt.Errorf("date: %w", err)
	}
	if p.Currency != currency {
		return fmt.Errorf("currency: must be %s, is %q", currency, p.Currency)
	}
	positive := map[string]float64{
		"hoursPerMonth":                            p.HoursPerMonth,
		"clusterFeePerHour":                        p.ClusterFeePerHour,
		"egress.interRegionPerGib":                 p.Egress.InterRegionPerGiB,
		"egress.assumed.mibpsPerNode":              p.Egress.Assumed.MiBpsPerNode,
		"egress.assumed.transfersPerSecondPerNode": p.Egress.Assumed.TransfersPerSecondPerNode,
	}
	for machine, regions := range p.MachineTypes {
		for region, price := range regions {
			positive[fmt.Sprintf("machineTypes.%s.%s", machine, region)] = price
		}
	}
	for disk, regions := range p.Disks {
		for region, prices := range regions {
			path := fmt.Sprintf("disks.%s.%s.", disk, region)
			positive[path+"gibMonth"] = prices.GiB
			positive[path+"iopsMonth"] = prices.IOPS
			positive[path+"mibpsMonth"] = prices.MiBps
		}
	}
	for path, value := range positive {
		if value <= 0 {
			return fmt.Errorf("%s: must be positive, is %v", path, value)
		}
	}
	return nil
}

// covers says whether there are prices of a region at all.
func (p *Prices) covers(region string) bool {
	for _, regions := range p.MachineTypes {
		if _, ok := regions[region]; ok {
			return true
		}
	}
	return false
}
