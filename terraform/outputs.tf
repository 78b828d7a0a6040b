# SPDX-License-Identifier: Apache-2.0

output "clusters" {
  description = "The clusters by region: what shardyard join joins them by."
  value = {
    for region, cluster in module.region : region => {
      name           = cluster.name
      endpoint       = cluster.endpoint
      ca_certificate = cluster.ca_certificate
      domain         = cluster.domain
    }
  }
}

output "home_region" {
  description = "The region whose cluster runs the operator."
  value       = var.home_region
}

output "credentials" {
  description = "The commands that make a kubectl context of each cluster. What uses the contexts calls gke-gcloud-auth-plugin."
  value = {
    for region, cluster in module.region : region =>
    "gcloud container clusters get-credentials ${cluster.name} --project ${var.project_id} --region ${region}"
  }
}

output "nodes" {
  description = "The number of validators' machines of each region and zone, which is the greatest where they come as needed."
  value       = { for region, cluster in module.region : region => cluster.nodes_by_zone }
}

output "quotas" {
  description = "What the validators' machines take of the quotas of each region."
  value       = { for region, cluster in module.region : region => cluster.quotas }
}

output "project_quotas" {
  description = "What all machines take of the quotas of the project, those of the system pools among them. Null where a type of machines does not tell its size."
  value       = { vcpus_all_regions = try(sum([for cluster in values(module.region) : cluster.vcpus]), null) }
}

output "registry" {
  description = "What the names of images begin with."
  value       = module.artifacts.registry
}

output "results_bucket" {
  description = "The bucket of results."
  value       = module.artifacts.results_bucket
}

output "cost" {
  description = "What the machines of validators cost at full load, before discounts and taxes; null where there is no price."
  value       = module.cost.estimate
}
