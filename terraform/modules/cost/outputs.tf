# SPDX-License-Identifier: Apache-2.0

output "estimate" {
  description = "What the machines of validators cost at full load, before discounts and taxes; null where there is no price."
  value = {
    prices_of       = local.prices.date
    currency        = local.prices.currency
    per_hour        = local.per_hour == null ? null : tonumber(format("%.2f", local.per_hour))
    per_hour_of     = { for name, part in local.parts : name => part == null ? null : tonumber(format("%.2f", part)) }
    per_run         = local.per_hour == null ? null : tonumber(format("%.2f", local.per_hour * var.run_hours))
    run_hours       = var.run_hours
    no_prices_of    = sort(distinct(flatten([for name, part in local.by_region : [for region, price in part : "${name} in ${region}" if price == null]])))
    not_included    = "system pools, NAT, load balancers, images, stored results, and traffic between zones or to the internet"
    assumed_traffic = "${local.prices.egress.assumed.mibpsPerNode} MiB/s sent by each validator, as much to each other one"
  }
}
