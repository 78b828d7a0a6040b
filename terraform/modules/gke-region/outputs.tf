# SPDX-License-Identifier: Apache-2.0

output "name" {
  description = "The name of the cluster."
  value       = google_container_cluster.this.name
}

output "endpoint" {
  description = "The address of the control plane, for those who may reach it."
  value       = google_container_cluster.this.endpoint
}

output "ca_certificate" {
  description = "The certificate authority of the control plane, in base64."
  value       = google_container_cluster.this.master_auth[0].cluster_ca_certificate
}

output "nodes_by_zone" {
  description = "The number of validators' machines in each zone, which is the greatest where they come as needed."
  value       = local.nodes_by_zone
}

output "domain" {
  description = "The domain of the cluster's DNS names."
  value       = var.dns_domain
}

output "quotas" {
  description = "What the validators' machines take of the region's quotas. The size of a machine is null where its type does not tell."
  value = {
    vcpus                      = local.vcpus == null ? null : var.nodes * local.vcpus
    hyperdisk_size_gib         = var.nodes * sum([for disk in values(local.disks) : disk.size_gib])
    hyperdisk_iops             = var.nodes * local.sums["IOPS"].paid
    hyperdisk_throughput_mibps = var.nodes * local.sums["MiB/s"].paid
  }
}

output "vcpus" {
  description = "The vCPUs of all machines, those of the system pool among them, or null where a type does not tell."
  value       = try(var.nodes * local.vcpus + var.system_pool.nodes_per_zone * length(var.zones) * local.system_vcpus, null)
}

output "disk_warnings" {
  description = "What is paid for and never had, because the volumes of a machine share what it can do."
  value       = local.disk_warnings
}
