# SPDX-License-Identifier: Apache-2.0

mock_provider "google" {}

variables {
  project_id           = "test-project"
  name                 = "yard"
  region               = "us-east1"
  zones                = ["us-east1-b", "us-east1-c", "us-east1-d"]
  nodes                = 47
  network              = "network"
  subnetwork           = "subnetwork"
  pod_range            = "10.64.0.0/18"
  dns_domain           = "yard-us-east1.local"
  authorized_ranges    = { office = "198.51.100.0/24" }
  node_service_account = "nodes@example.com"
  validator_tag        = "yard-validator"
  data_disk            = { size_gib = 400, iops = 20000, throughput_mibps = 780 }
}

run "cluster" {
  command = plan

  assert {
    condition     = google_container_cluster.this.name == "yard-us-east1" && google_container_cluster.this.location == "us-east1"
    error_message = "A regional cluster named after the region was expected."
  }
  assert {
    condition     = google_container_cluster.this.dns_config[0].cluster_dns_scope == "VPC_SCOPE" && google_container_cluster.this.dns_config[0].cluster_dns_domain == "yard-us-east1.local"
    error_message = "The cluster's names resolve in the whole network."
  }
  assert {
    condition     = one(google_container_cluster.this.master_authorized_networks_config[0].cidr_blocks).cidr_block == "198.51.100.0/24"
    error_message = "Only those who are named reach the control plane."
  }
  assert {
    condition     = google_container_cluster.this.private_cluster_config[0].enable_private_nodes && !google_container_cluster.this.private_cluster_config[0].enable_private_endpoint
    error_message = "Machines have no public addresses, and the control plane has one."
  }
  assert {
    condition     = google_container_cluster.this.datapath_provider == "ADVANCED_DATAPATH" && google_container_cluster.this.workload_identity_config[0].workload_pool == "test-project.svc.id.goog"
    error_message = "Dataplane V2 and workload identity were expected."
  }
}

run "zones_share_the_machines" {
  command = plan

  assert {
    condition     = output.nodes_by_zone == { "us-east1-b" = 16, "us-east1-c" = 16, "us-east1-d" = 15 }
    error_message = "47 machines in three zones are ${jsonencode(output.nodes_by_zone)}."
  }
  assert {
    condition     = alltrue([for zone, pool in google_container_node_pool.validators : pool.node_locations == toset([zone])])
    error_message = "Each pool is of one zone."
  }
}

run "one_zone_takes_all" {
  command = plan
  variables {
    zones     = ["us-east1-b"]
    placement = "COMPACT"
  }
  assert {
    condition     = output.nodes_by_zone == { "us-east1-b" = 47 }
    error_message = "47 machines in one zone are ${jsonencode(output.nodes_by_zone)}."
  }
  assert {
    condition     = google_container_node_pool.validators["us-east1-b"].placement_policy[0].type == "COMPACT"
    error_message = "The machines were to be placed close together."
  }
}

run "machines_are_what_validators_expect" {
  command = plan

  assert {
    condition = [
      for taint in google_container_node_pool.validators["us-east1-b"].node_config[0].taint : [taint.key, taint.value, taint.effect]
    ] == [[local.names.taints.machineType, "c4d-highmem-16", "NO_SCHEDULE"]]
    error_message = "Nothing but validators runs here."
  }
  assert {
    condition     = google_container_node_pool.validators["us-east1-b"].node_config[0].kubelet_config[0].cpu_manager_policy == "static"
    error_message = "Validators have cores of their own."
  }
  assert {
    condition     = google_container_node_pool.validators["us-east1-b"].node_config[0].gvnic[0].enabled
    error_message = "gVNIC was expected."
  }
  assert {
    condition = values({
      for name, value in google_container_node_pool.validators["us-east1-b"].node_config[0].boot_disk[0] : name => value
      if contains(["disk_type", "provisioned_iops", "provisioned_throughput", "size_gb"], name)
    }) == ["hyperdisk-balanced", 4200, 420, 200]
    error_message = "The boot disk of the published run was expected."
  }
  assert {
    condition     = length(google_container_node_pool.system.node_config[0].taint) == 0
    error_message = "Everything but validators runs on the system pool."
  }
}

run "as_many_machines_as_there_are_to_be" {
  command = plan

  assert {
    condition     = sum([for pool in google_container_node_pool.validators : pool.node_count]) == 47
    error_message = "The pools keep their size."
  }
  assert {
    condition     = alltrue([for pool in google_container_node_pool.validators : length(pool.autoscaling) == 0])
    error_message = "Nobody changes the size of the pools."
  }
}

run "as_many_machines_as_pods_need" {
  command = plan
  variables {
    pool_size = "AS_NEEDED"
  }
  assert {
    condition     = alltrue([for pool in google_container_node_pool.validators : pool.initial_node_count == 0])
    error_message = "There is no machine before there is a pod."
  }
  assert {
    condition     = alltrue([for pool in google_container_node_pool.validators : pool.autoscaling[0].total_min_node_count == 0])
    error_message = "No machine is left when there is no pod."
  }
  assert {
    condition     = sum([for pool in google_container_node_pool.validators : pool.autoscaling[0].total_max_node_count]) == 47
    error_message = "There are never more machines than nodes says."
  }
  assert {
    condition     = output.nodes_by_zone == { "us-east1-b" = 16, "us-east1-c" = 16, "us-east1-d" = 15 }
    error_message = "47 machines at most in three zones are ${jsonencode(output.nodes_by_zone)}."
  }
}

run "machines_of_whatever_there_is" {
  command = plan

  assert {
    condition     = alltrue([for pool in google_container_node_pool.validators : length(pool.node_config[0].reservation_affinity) == 0])
    error_message = "No reservation was asked for."
  }
}

run "machines_of_a_reservation" {
  command = plan
  variables {
    reservation = "run"
  }
  assert {
    condition = alltrue([
      for pool in google_container_node_pool.validators : [
        for affinity in pool.node_config[0].reservation_affinity : [affinity.consume_reservation_type, affinity.key, one(affinity.values)]
      ] == [["SPECIFIC_RESERVATION", "compute.googleapis.com/reservation-name", "run"]]
    ])
    error_message = "The machines of every zone are those of the reservation."
  }
  assert {
    condition     = length(google_container_node_pool.system.node_config[0].reservation_affinity) == 0
    error_message = "The reservation is for validators' machines."
  }
}

run "machines_of_a_reservation_of_another_project" {
  command = plan
  variables {
    reservation = "projects/other-project/reservations/run"
  }
  assert {
    condition     = google_container_node_pool.validators["us-east1-b"].node_config[0].reservation_affinity[0].values == toset(["projects/other-project/reservations/run"])
    error_message = "The reservation that another project shares was expected."
  }
}

run "machines_are_replaced_without_one_more" {
  command = plan

  assert {
    condition = alltrue([
      for pool in google_container_node_pool.validators : [
        for settings in pool.upgrade_settings : [settings.strategy, settings.max_surge, settings.max_unavailable]
      ] == [["SURGE", 0, 1]]
    ])
    error_message = "One validators' machine goes before the next comes."
  }
  assert {
    condition     = alltrue([for pool in google_container_node_pool.validators : pool.maintenance_policy[0].exclusion_until_end_of_support[0].enabled])
    error_message = "Validators' machines keep their version as long as Google supports it."
  }
  assert {
    condition = [
      for settings in google_container_node_pool.system.upgrade_settings : [settings.strategy, settings.max_surge, settings.max_unavailable]
    ] == [["SURGE", 1, 0]]
    error_message = "The operator has a new machine before its own goes."
  }
}

run "tier_1_for_large_machines" {
  command = plan
  variables {
    machine_type = "c4d-highmem-48"
    egress_tier  = "TIER_1"
  }
  assert {
    condition     = google_container_node_pool.validators["us-east1-b"].network_config[0].network_performance_config[0].total_egress_bandwidth_tier == "TIER_1"
    error_message = "TIER_1 was asked for."
  }
}

run "volumes_within_the_machine" {
  command = plan

  assert {
    condition     = length(output.disk_warnings) == 0
    error_message = "There is nothing to warn of, but ${jsonencode(output.disk_warnings)}."
  }
}

run "volumes_beyond_the_machine_together" {
  command = plan
  variables {
    data_disk = { size_gib = 400, iops = 72000, throughput_mibps = 781 }
  }
  assert {
    condition = output.disk_warnings == [
      "the volumes of a machine are paid for 76200 IOPS together, but a c4d-highmem-16 does at most 75000",
      "the volumes of a machine are paid for 1201 MiB/s together, but a c4d-highmem-16 does at most 1200",
    ]
    error_message = "The warnings are ${jsonencode(output.disk_warnings)}."
  }
}

run "volumes_of_a_machine_that_is_not_known" {
  command = plan
  variables {
    machine_type = "c4d-highmem-8"
    data_disk    = { size_gib = 400, iops = 80000, throughput_mibps = 2400 }
  }
  assert {
    condition     = length(output.disk_warnings) == 0
    error_message = "Nothing is known of the machine, but ${jsonencode(output.disk_warnings)}."
  }
}
