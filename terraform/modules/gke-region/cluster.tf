# SPDX-License-Identifier: Apache-2.0

resource "google_container_cluster" "this" {
  project             = var.project_id
  name                = "${var.name}-${var.region}"
  location            = var.region
  node_locations      = var.zones
  min_master_version  = var.kubernetes_version
  deletion_protection = var.deletion_protection == "ENABLED"
  resource_labels     = local.labels

  network                   = var.network
  subnetwork                = var.subnetwork
  networking_mode           = "VPC_NATIVE"
  datapath_provider         = "ADVANCED_DATAPATH"
  default_max_pods_per_node = var.max_pods_per_node

  ip_allocation_policy {
    cluster_secondary_range_name  = "pods"
    services_secondary_range_name = "services"
  }

  # Names of this cluster resolve in the whole network, so that validators of other clusters find theirs.
  dns_config {
    cluster_dns        = "CLOUD_DNS"
    cluster_dns_scope  = "VPC_SCOPE"
    cluster_dns_domain = var.dns_domain
  }

  private_cluster_config {
    enable_private_nodes    = true
    enable_private_endpoint = false
  }

  master_authorized_networks_config {
    gcp_public_cidrs_access_enabled = false

    dynamic "cidr_blocks" {
      for_each = var.authorized_ranges

      content {
        display_name = cidr_blocks.key
        cidr_block   = cidr_blocks.value
      }
    }
  }

  # Access is by Google's identities and by tokens of service accounts, never by a certificate.
  master_auth {
    client_certificate_config {
      issue_client_certificate = false
    }
  }

  workload_identity_config {
    workload_pool = "${var.project_id}.svc.id.goog"
  }

  release_channel {
    channel = "REGULAR"
  }

  addons_config {
    gce_persistent_disk_csi_driver_config {
      enabled = true
    }
  }

  # Workloads' logs of a loaded network cost more than its control plane; kubectl logs has them.
  logging_config {
    enable_components = ["SYSTEM_COMPONENTS"]
  }

  # Networks bring a PodMonitor for a Prometheus of their own.
  monitoring_config {
    enable_components = ["SYSTEM_COMPONENTS"]

    managed_prometheus {
      enabled = false
    }
  }

  # The bill says which namespace and which label it is for.
  cost_management_config {
    enabled = true
  }

  # A cluster cannot be made without a pool. This one is deleted at once; it is never in use.
  remove_default_node_pool = true
  initial_node_count       = 1

  node_config {
    service_account = var.node_service_account
    oauth_scopes    = local.oauth_scopes
  }

  lifecycle {
    ignore_changes = [node_config, initial_node_count]
  }
}
