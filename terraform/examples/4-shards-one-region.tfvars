# SPDX-License-Identifier: Apache-2.0

# The machines of the preset near-4-shards: 4 in one zone of one region.
home_region = "us-central1"

regions = {
  us-central1 = {
    nodes         = 4
    zones         = ["us-central1-a"]
    node_range    = "10.0.0.0/22"
    pod_range     = "10.64.0.0/20"
    service_range = "10.96.0.0/20"
  }
}

data_disk = {
  size_gib         = 400
  iops             = 20000
  throughput_mibps = 1144
}
