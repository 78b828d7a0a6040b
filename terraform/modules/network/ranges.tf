# SPDX-License-Identifier: Apache-2.0

# Google refuses a range that overlaps with another of the network when most of the network exists already. Terraform
# has no function for it, so ranges are compared as numbers.
locals {
  ranges = merge([
    for region, of in var.regions : {
      "regions.${region}.node_range"    = of.node_range
      "regions.${region}.pod_range"     = of.pod_range
      "regions.${region}.service_range" = of.service_range
    }
  ]...)

  malformed_ranges = [for name, range in local.ranges : "${name} ${range}" if try(cidrsubnet(range, 0, 0), "") != range]

  range_numbers = {
    for name, range in local.ranges : name => {
      first = sum([
        for i, octet in split(".", cidrhost(range, 0)) : tonumber(octet) * pow(256, 3 - i)
      ])
      size = pow(2, 32 - tonumber(split("/", range)[1]))
    }
    if length(local.malformed_ranges) == 0
  }

  ranges_in_order = [
    for key in sort([for name, numbers in local.range_numbers : format("%010d %s", numbers.first, name)]) : split(" ", key)[1]
  ]

  # Where any two overlap, some two neighbours do.
  overlapping_ranges = [
    for i, name in local.ranges_in_order :
    "${local.ranges_in_order[max(0, i - 1)]} ${local.ranges[local.ranges_in_order[max(0, i - 1)]]} and ${name} ${local.ranges[name]}"
    if i > 0 && local.range_numbers[name].first < sum(values(local.range_numbers[local.ranges_in_order[max(0, i - 1)]]))
  ]
}
