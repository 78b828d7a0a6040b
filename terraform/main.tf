# SPDX-License-Identifier: Apache-2.0

# Clusters in one or more regions of one network, for networks of validators that span them.

provider "google" {
  project = var.project_id
}

locals {
  # The network tag that firewall rules know the validators' machines by.
  validator_tag = "${var.name}-validator"

  disk_warnings = distinct(flatten([for cluster in module.region : cluster.disk_warnings]))
}

resource "google_project_service" "this" {
  for_each = toset([
    "artifactregistry.googleapis.com",
    "compute.googleapis.com",
    "container.googleapis.com",
    "dns.googleapis.com",
    "iam.googleapis.com",
    "storage.googleapis.com",
  ])

  project = var.project_id
  service = each.value
  # Others in the project may use it as well.
  disable_on_destroy = false
}

# The machines' own account: it writes logs and metrics and pulls images, and nothing else.
resource "google_service_account" "nodes" {
  project      = var.project_id
  account_id   = "${var.name}-nodes"
  display_name = "Machines of ${var.name}"

  depends_on = [google_project_service.this]
}

resource "google_project_iam_member" "nodes" {
  project = var.project_id
  role    = "roles/container.defaultNodeServiceAccount"
  member  = "serviceAccount:${google_service_account.nodes.email}"
}

module "network" {
  source = "./modules/network"

  project_id    = var.project_id
  name          = var.name
  home_region   = var.home_region
  validator_tag = local.validator_tag
  mtu_bytes     = var.mtu_bytes
  regions = {
    for region, of in var.regions : region => {
      node_range    = of.node_range
      pod_range     = of.pod_range
      service_range = of.service_range
    }
  }

  depends_on = [google_project_service.this]
}

module "region" {
  source   = "./modules/gke-region"
  for_each = var.regions

  project_id           = var.project_id
  name                 = var.name
  region               = each.key
  zones                = each.value.zones
  nodes                = each.value.nodes
  pool_size            = each.value.pool_size
  reservation          = each.value.reservation
  network              = module.network.network
  subnetwork           = module.network.subnetworks[each.key]
  pod_range            = each.value.pod_range
  dns_domain           = "${var.name}-${each.key}.local"
  authorized_ranges    = merge(var.admin_ranges, { operator = "${module.network.nat_addresses[var.home_region]}/32" })
  kubernetes_version   = var.kubernetes_version
  node_service_account = google_service_account.nodes.email
  validator_tag        = local.validator_tag
  machine_type         = var.machine_type
  boot_disk            = var.boot_disk
  data_disk            = var.data_disk
  sysctls              = var.sysctls
  system_pool          = var.system_pool
  placement            = var.placement
  egress_tier          = var.egress_tier
  deletion_protection  = var.deletion_protection

  # Machines that start before their account may do its work never join.
  depends_on = [google_project_iam_member.nodes]
}

module "artifacts" {
  source = "./modules/artifacts"

  project_id            = var.project_id
  name                  = var.name
  location              = var.home_region
  image_readers         = { nodes = "serviceAccount:${google_service_account.nodes.email}" }
  result_writers        = var.result_writers
  result_retention_days = var.result_retention_days

  depends_on = [google_project_service.this]
}

module "cost" {
  source = "./modules/cost"

  nodes        = { for region, of in var.regions : region => of.nodes }
  machine_type = var.machine_type
  boot_disk    = var.boot_disk
  data_disk    = var.data_disk
  run_hours    = var.run_hours
}

check "volumes_share_the_machine" {
  assert {
    condition     = length(local.disk_warnings) == 0
    error_message = "Some of what is paid for is never had: ${join("; ", local.disk_warnings)}."
  }
}
