# SPDX-License-Identifier: Apache-2.0

# One network over all regions. Pods have addresses of it, so a validator in one cluster reaches those of the others
# without a gateway.

locals {
  names = jsondecode(file("${path.module}/../names.json"))
}

resource "google_compute_network" "this" {
  project                 = var.project_id
  name                    = var.name
  auto_create_subnetworks = false
  mtu                     = var.mtu_bytes

  lifecycle {
    precondition {
      condition     = length(local.malformed_ranges) == 0
      error_message = "Not a range in CIDR notation, as in 10.0.0.0/20: ${join(", ", local.malformed_ranges)}."
    }
    precondition {
      condition     = length(local.overlapping_ranges) == 0
      error_message = "Ranges of one network must not overlap: ${join("; ", local.overlapping_ranges)}."
    }
    precondition {
      condition     = contains(keys(var.regions), var.home_region)
      error_message = "home_region ${var.home_region} is none of the regions: ${join(", ", keys(var.regions))}."
    }
  }
}

resource "google_compute_subnetwork" "this" {
  for_each = var.regions

  project                  = var.project_id
  name                     = "${var.name}-${each.key}"
  network                  = google_compute_network.this.id
  region                   = each.key
  ip_cidr_range            = each.value.node_range
  private_ip_google_access = true

  secondary_ip_range {
    range_name    = "pods"
    ip_cidr_range = each.value.pod_range
  }

  secondary_ip_range {
    range_name    = "services"
    ip_cidr_range = each.value.service_range
  }
}

# Google's own rules let the pods of a cluster reach each other, but not those of another cluster.
resource "google_compute_firewall" "p2p" {
  project       = var.project_id
  name          = "${var.name}-p2p"
  description   = "Validators reach each other across the regions"
  network       = google_compute_network.this.name
  direction     = "INGRESS"
  source_ranges = [for region in values(var.regions) : region.pod_range]
  target_tags   = [var.validator_tag]

  allow {
    protocol = "tcp"
    ports    = [tostring(local.names.ports.p2p)]
  }
}

resource "google_compute_firewall" "http" {
  project       = var.project_id
  name          = "${var.name}-http"
  description   = "The operator and Prometheus read the HTTP API of validators in every region"
  network       = google_compute_network.this.name
  direction     = "INGRESS"
  source_ranges = [for name, region in var.regions : region.pod_range if name == var.home_region]
  target_tags   = [var.validator_tag]

  allow {
    protocol = "tcp"
    ports    = [tostring(local.names.ports.http)]
  }
}

resource "google_compute_firewall" "admin" {
  project       = var.project_id
  name          = "${var.name}-admin"
  description   = "The operator tells validators in every region what load to sign, over TLS"
  network       = google_compute_network.this.name
  direction     = "INGRESS"
  source_ranges = [for name, region in var.regions : region.pod_range if name == var.home_region]
  target_tags   = [var.validator_tag]

  allow {
    protocol = "tcp"
    ports    = [tostring(local.names.ports.admin)]
  }
}

# Machines have no addresses of their own. They reach image registries through NAT, and the operator the control planes of
# the other clusters, which let in the address of its region.
resource "google_compute_address" "nat" {
  for_each = var.regions

  project = var.project_id
  name    = "${var.name}-${each.key}-nat"
  region  = each.key
}

resource "google_compute_router" "this" {
  for_each = var.regions

  project = var.project_id
  name    = "${var.name}-${each.key}"
  network = google_compute_network.this.id
  region  = each.key
}

resource "google_compute_router_nat" "this" {
  for_each = var.regions

  project                            = var.project_id
  name                               = "${var.name}-${each.key}"
  router                             = google_compute_router.this[each.key].name
  region                             = each.key
  nat_ip_allocate_option             = "MANUAL_ONLY"
  nat_ips                            = [google_compute_address.nat[each.key].self_link]
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"

  log_config {
    enable = true
    filter = "ERRORS_ONLY"
  }
}
