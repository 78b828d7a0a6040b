# SPDX-License-Identifier: Apache-2.0

# The machines of the preset near-1m-70-shards: 140 in three regions, each region's in one zone, so that no traffic is
# paid for between zones. Where a zone has fewer to give, name more zones: they share the machines.
home_region = "us-central1"

regions = {
  us-central1 = {
    nodes         = 47
    zones         = ["us-central1-a"]
    node_range    = "10.0.0.0/22"
    pod_range     = "10.64.0.0/18"
    service_range = "10.96.0.0/20"
  }
  us-east1 = {
    nodes         = 47
    zones         = ["us-east1-b"]
    node_range    = "10.0.4.0/22"
    pod_range     = "10.64.64.0/18"
    service_range = "10.96.16.0/20"
  }
  us-east4 = {
    nodes         = 46
    zones         = ["us-east4-a"]
    node_range    = "10.0.8.0/22"
    pod_range     = "10.64.128.0/18"
    service_range = "10.96.32.0/20"
  }
}

data_disk = {
  size_gib         = 400
  iops             = 20000
  throughput_mibps = 1144
}
