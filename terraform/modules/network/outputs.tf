# SPDX-License-Identifier: Apache-2.0

output "network" {
  description = "The id of the network."
  value       = google_compute_network.this.id
}

output "nat_addresses" {
  description = "The address of each region's machines on the internet."
  value       = { for region, address in google_compute_address.nat : region => address.address }
}

output "subnetworks" {
  description = "The id of the subnetwork of each region, whose secondary ranges are named pods and services."
  value       = { for region, subnetwork in google_compute_subnetwork.this : region => subnetwork.id }
}
