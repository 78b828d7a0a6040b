# SPDX-License-Identifier: Apache-2.0

locals {
  names = jsondecode(file("${path.module}/../names.json"))

  labels = { shardyard = var.name }

  # Access is by the roles of the service account.
  oauth_scopes = ["https://www.googleapis.com/auth/cloud-platform"]

  # A pool has the same number of machines in each of its zones, so each zone has a pool, and the first ones take what
  # does not divide.
  nodes_by_zone = {
    for i, zone in var.zones : zone => floor(var.nodes / length(var.zones)) + (i < var.nodes % length(var.zones) ? 1 : 0)
  }

  # Each machine has a block of the pods' range, of twice as many addresses as pods.
  pod_block_size  = pow(2, ceil(log(2 * var.max_pods_per_node, 2)))
  pod_block_count = floor(pow(2, 32 - tonumber(split("/", var.pod_range)[1])) / local.pod_block_size)
  all_nodes       = var.nodes + var.system_pool.nodes_per_zone * length(var.zones)

  misplaced_zones = [for zone in var.zones : zone if !startswith(zone, "${var.region}-")]
}

resource "google_container_node_pool" "validators" {
  for_each = local.nodes_by_zone

  project           = var.project_id
  name              = "validators-${each.key}"
  cluster           = google_container_cluster.this.name
  location          = var.region
  node_locations    = [each.key]
  node_count        = var.pool_size == "FIXED" ? each.value : null
  max_pods_per_node = var.max_pods_per_node

  # Machines come for pods that wait for one, and each goes when it has had none for about ten minutes.
  initial_node_count = var.pool_size == "AS_NEEDED" ? 0 : null
  dynamic "autoscaling" {
    for_each = var.pool_size == "AS_NEEDED" ? [each.value] : []

    content {
      total_min_node_count = 0
      total_max_node_count = autoscaling.value
      location_policy      = "ANY"
    }
  }

  node_config {
    machine_type    = var.machine_type
    image_type      = "COS_CONTAINERD"
    service_account = var.node_service_account
    oauth_scopes    = local.oauth_scopes
    tags            = [var.validator_tag]
    resource_labels = local.labels

    # Validators that ask for this machine type tolerate it, and nothing else runs here.
    taint {
      key    = local.names.taints.machineType
      value  = var.machine_type
      effect = "NO_SCHEDULE"
    }

    boot_disk {
      disk_type              = var.boot_disk.type
      size_gb                = var.boot_disk.size_gib
      provisioned_iops       = var.boot_disk.iops
      provisioned_throughput = var.boot_disk.throughput_mibps
    }

    gvnic {
      enabled = true
    }

    # Only these machines: what is missing in the reservation fails here, and is not made of what the zone has left.
    dynamic "reservation_affinity" {
      for_each = var.reservation == null ? [] : [var.reservation]

      content {
        consume_reservation_type = "SPECIFIC_RESERVATION"
        key                      = "compute.googleapis.com/reservation-name"
        values                   = [reservation_affinity.value]
      }
    }

    linux_node_config {
      sysctls = var.sysctls
    }

    kubelet_config {
      # A validator that asks for whole cores gets cores of its own.
      cpu_manager_policy                     = "static"
      allowed_unsafe_sysctls                 = local.names.podSysctls
      insecure_kubelet_readonly_port_enabled = "FALSE"
    }

    shielded_instance_config {
      enable_secure_boot          = true
      enable_integrity_monitoring = true
    }

    workload_metadata_config {
      mode = "GKE_METADATA"
    }
  }

  dynamic "network_config" {
    for_each = var.egress_tier == "TIER_1" ? [var.egress_tier] : []

    content {
      network_performance_config {
        total_egress_bandwidth_tier = network_config.value
      }
    }
  }

  dynamic "placement_policy" {
    for_each = var.placement == "COMPACT" ? [var.placement] : []

    content {
      type = placement_policy.value
    }
  }

  # A cluster of a release channel upgrades its machines. These keep their version as long as Google supports it: an
  # upgrade replaces machines in the middle of a run.
  management {
    auto_repair  = true
    auto_upgrade = true
  }

  maintenance_policy {
    exclusion_until_end_of_support {
      enabled = true
    }
  }

  # What replaces machines all the same is a change of this pool, or a version that is no longer supported. A machine
  # more is what the quota, the reservation and a compact placement have no room for, so that one goes before the next
  # comes, and one at a time is what a network does without.
  upgrade_settings {
    strategy        = "SURGE"
    max_surge       = 0
    max_unavailable = 1
  }

  lifecycle {
    # It says with how many machines the pool was made. Another number would make it anew, with the validators on it: when
    # pool_size changes, or machines were added by hand.
    ignore_changes = [initial_node_count]

    precondition {
      condition     = length(local.misplaced_zones) == 0
      error_message = "Not in region ${var.region}: ${join(", ", local.misplaced_zones)}."
    }
    precondition {
      condition     = var.nodes >= length(var.zones)
      error_message = "${var.nodes} machines do not fill ${length(var.zones)} zones: ${join(", ", var.zones)}."
    }
    precondition {
      condition     = local.all_nodes <= local.pod_block_count
      error_message = "pod_range ${var.pod_range} is for ${local.pod_block_count} machines of ${var.max_pods_per_node} pods, but the cluster has ${local.all_nodes}."
    }
    precondition {
      condition     = length(local.refused_sysctls) == 0
      error_message = "GKE does not let a node pool set ${join(", ", local.refused_sysctls)}: leave it to a NodeTuning, which sets it on the machine, or to the networks' spec.tcp, which sets it in pods."
    }
    precondition {
      condition     = length(local.disk_problems) == 0
      error_message = "No volume of Hyperdisk Balanced is like this: ${join("; ", local.disk_problems)}."
    }
    precondition {
      condition     = length(local.disk_excesses) == 0
      error_message = "A volume cannot do more than its machine: ${join("; ", local.disk_excesses)}."
    }
    precondition {
      condition     = var.placement == "ANY" || length(var.zones) == 1
      error_message = "placement is COMPACT, which keeps machines close together in one zone, but zones are ${join(", ", var.zones)}."
    }
    precondition {
      condition     = var.placement == "ANY" || var.reservation == null
      error_message = "placement is COMPACT, for which GKE makes each pool a placement policy of its own, and the machines of reservation ${var.reservation == null ? "" : var.reservation} have another or none."
    }
    precondition {
      condition     = var.egress_tier == "DEFAULT" || try(local.vcpus >= 48, false)
      error_message = "egress_tier is TIER_1, which is for machines of 48 vCPU and more, but machine_type is ${var.machine_type}."
    }
  }
}

resource "google_container_node_pool" "system" {
  project           = var.project_id
  name              = "system"
  cluster           = google_container_cluster.this.name
  location          = var.region
  node_locations    = var.zones
  node_count        = var.system_pool.nodes_per_zone
  max_pods_per_node = var.max_pods_per_node

  node_config {
    machine_type    = var.system_pool.machine_type
    image_type      = "COS_CONTAINERD"
    disk_type       = "pd-balanced"
    disk_size_gb    = var.system_pool.disk_size_gib
    service_account = var.node_service_account
    oauth_scopes    = local.oauth_scopes
    resource_labels = local.labels
    # Validators of networks without a machine type come here, and reach those of other regions as all do.
    tags = [var.validator_tag]

    gvnic {
      enabled = true
    }

    kubelet_config {
      insecure_kubelet_readonly_port_enabled = "FALSE"
    }

    shielded_instance_config {
      enable_secure_boot          = true
      enable_integrity_monitoring = true
    }

    workload_metadata_config {
      mode = "GKE_METADATA"
    }
  }

  management {
    auto_repair  = true
    auto_upgrade = true
  }

  # Upgrades come here by themselves. The operator and Prometheus have a new machine before theirs goes.
  upgrade_settings {
    strategy        = "SURGE"
    max_surge       = 1
    max_unavailable = 0
  }
}
