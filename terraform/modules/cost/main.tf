# SPDX-License-Identifier: Apache-2.0

# What a run costs, from the dated prices that the operator and shardyard plan use too. What has no price there is null,
# and so is a sum over it: an estimate never leaves out what it does not know.

locals {
  prices = jsondecode(file("${path.module}/prices.json"))

  # Of each region: the price of its machines per hour, or null.
  machines = {
    for region, nodes in var.nodes : region =>
    try(nodes * local.prices.machineTypes[var.machine_type][region], null)
  }

  # Of each disk and region: the price of all such disks of the region per hour, or null.
  disks = {
    for name, disk in { boot_disks = var.boot_disk, data_disks = var.data_disk } : name => {
      for region, nodes in var.nodes : region => disk == null ? 0 : try(nodes * (
        disk.size_gib * local.disk_prices[region].gibMonth +
        max(0, disk.iops - local.disk_prices[region].iopsIncluded) * local.disk_prices[region].iopsMonth +
        max(0, disk.throughput_mibps - local.disk_prices[region].mibpsIncluded) * local.disk_prices[region].mibpsMonth
      ) / local.prices.hoursPerMonth, null)
    }
  }
  disk_prices = local.prices.disks["hyperdisk-balanced"]

  # A validator sends to all others alike, so of what it sends as much leaves its region as there are others elsewhere.
  all_nodes    = sum(values(var.nodes))
  leaving      = sum([for nodes in values(var.nodes) : nodes * (local.all_nodes - nodes) / max(1, local.all_nodes - 1)])
  gib_per_hour = local.prices.egress.assumed.mibpsPerNode * 3600 / 1024
  foreign      = [for region in keys(var.nodes) : region if !contains(keys(local.disk_prices), region)]

  by_region = merge(local.disks, { machines = local.machines })
  parts = merge(
    { for name, part in local.by_region : name => anytrue([for price in values(part) : price == null]) ? null : sum(values(part)) },
    {
      clusters = length(var.nodes) * local.prices.clusterFeePerHour
      # Between regions that have no prices here, traffic may cost something else.
      traffic = length(local.foreign) > 0 ? null : local.leaving * local.gib_per_hour * local.prices.egress.interRegionPerGib
    },
  )
  per_hour = anytrue([for price in values(local.parts) : price == null]) ? null : sum(values(local.parts))
}
