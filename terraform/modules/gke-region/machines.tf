# SPDX-License-Identifier: Apache-2.0

# What Google says of the machines that runs are made of. Of others nothing is known here, and the checks that would
# need it are left to Google.
locals {
  machine_types = {
    c4d-highmem-16 = { vcpus = 16, iops = 75000, throughput_mibps = 1200 }
  }

  machine = lookup(local.machine_types, var.machine_type, null)

  # The size is the last part of a machine type's name, such as c4d-highmem-16.
  vcpus        = try(tonumber(element(split("-", var.machine_type), -1)), null)
  system_vcpus = try(tonumber(element(split("-", var.system_pool.machine_type), -1)), null)
}
