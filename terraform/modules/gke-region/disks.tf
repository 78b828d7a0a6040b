# SPDX-License-Identifier: Apache-2.0

# The rules for a Hyperdisk Balanced volume, and the limits of the machine that it is attached to. Google applies them
# when a machine or a volume is made, which for volumes is long after this.
locals {
  disks = {
    for name, disk in { boot_disk = var.boot_disk, data_disk = var.data_disk } : name => merge(disk, {
      iops_limit     = disk.size_gib < 320 ? 500 * disk.size_gib : 160000
      least_mibps    = max(140, disk.iops / 256)
      greatest_mibps = min(2400, disk.iops / 4)
    }) if disk != null
  }

  disk_problems = flatten([
    for name, disk in local.disks : [
      disk.size_gib < 4 || disk.size_gib > 65536 ?
      ["${name}.size_gib is ${disk.size_gib}, but a volume has 4 to 65536 GiB"] : [],

      disk.iops < 3000 || disk.iops > disk.iops_limit ?
      ["${name}.iops is ${disk.iops}, but a volume of ${disk.size_gib} GiB has 3000 to ${disk.iops_limit}"] : [],

      disk.throughput_mibps < disk.least_mibps || disk.throughput_mibps > disk.greatest_mibps ?
      ["${name}.throughput_mibps is ${disk.throughput_mibps}, but a volume of ${disk.iops} IOPS has ${ceil(disk.least_mibps)} to ${floor(disk.greatest_mibps)}"] : [],
    ]
  ])

  disk_excesses = local.machine == null ? [] : flatten([
    for name, disk in local.disks : [
      disk.iops > local.machine.iops ?
      ["${name}.iops is ${disk.iops}, but a ${var.machine_type} does at most ${local.machine.iops}"] : [],

      disk.throughput_mibps > local.machine.throughput_mibps ?
      ["${name}.throughput_mibps is ${disk.throughput_mibps}, but a ${var.machine_type} does at most ${local.machine.throughput_mibps} MiB/s"] : [],
    ]
  ])

  # Google does not refuse it: the volumes share what the machine can do, and what is paid beyond that is never had.
  sums = {
    IOPS    = { paid = sum([for disk in values(local.disks) : disk.iops]), most = try(local.machine.iops, null) }
    "MiB/s" = { paid = sum([for disk in values(local.disks) : disk.throughput_mibps]), most = try(local.machine.throughput_mibps, null) }
  }
  disk_warnings = [
    for unit, sum in local.sums :
    "the volumes of a machine are paid for ${sum.paid} ${unit} together, but a ${var.machine_type} does at most ${sum.most}"
    if sum.most == null ? false : sum.paid > sum.most
  ]
}
