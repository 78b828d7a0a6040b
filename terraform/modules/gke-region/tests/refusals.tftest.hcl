# SPDX-License-Identifier: Apache-2.0

# What Google refuses when most of a cluster exists already, or never refuses and never delivers.

mock_provider "google" {}

variables {
  project_id           = "test-project"
  name                 = "yard"
  region               = "us-east1"
  zones                = ["us-east1-b", "us-east1-c"]
  nodes                = 8
  network              = "network"
  subnetwork           = "subnetwork"
  pod_range            = "10.64.0.0/18"
  dns_domain           = "yard-us-east1.local"
  authorized_ranges    = {}
  node_service_account = "nodes@example.com"
  validator_tag        = "yard-validator"
}

run "accepts_the_rest" {
  command = plan
}

run "a_zone_of_another_region" {
  command = plan
  variables {
    zones = ["us-east1-b", "us-east4-a"]
  }
  expect_failures = [google_container_node_pool.validators]
}

run "no_zone" {
  command = plan
  variables {
    zones = []
  }
  expect_failures = [var.zones]
}

run "a_zone_twice" {
  command = plan
  variables {
    zones = ["us-east1-b", "us-east1-b"]
  }
  expect_failures = [var.zones]
}

run "a_zone_without_machines" {
  command = plan
  variables {
    nodes = 1
  }
  expect_failures = [google_container_node_pool.validators]
}

run "half_a_machine" {
  command = plan
  variables {
    nodes = 8.5
  }
  expect_failures = [var.nodes]
}

run "more_machines_than_addresses" {
  command = plan
  variables {
    pod_range = "10.64.0.0/23"
  }
  expect_failures = [google_container_node_pool.validators]
}

run "too_many_pods_on_a_machine" {
  command = plan
  variables {
    max_pods_per_node = 300
  }
  expect_failures = [var.max_pods_per_node]
}

run "an_old_kubernetes" {
  command = plan
  variables {
    kubernetes_version = "1.32.9-gke.1"
  }
  expect_failures = [var.kubernetes_version]
}

run "a_sysctl_that_gke_does_not_take" {
  command = plan
  variables {
    sysctls = { "net.core.default_qdisc" = "fq" }
  }
  expect_failures = [google_container_node_pool.validators]
}

run "a_persistent_disk" {
  command = plan
  variables {
    boot_disk = { type = "pd-balanced" }
  }
  expect_failures = [var.boot_disk]
}

run "a_disk_that_is_too_small" {
  command = plan
  variables {
    data_disk = { size_gib = 2, iops = 3000, throughput_mibps = 140 }
  }
  expect_failures = [google_container_node_pool.validators]
}

run "too_many_iops_for_the_size" {
  command = plan
  variables {
    data_disk = { size_gib = 10, iops = 6000, throughput_mibps = 140 }
  }
  expect_failures = [google_container_node_pool.validators]
}

run "too_much_throughput_for_the_iops" {
  command = plan
  variables {
    data_disk = { size_gib = 400, iops = 3000, throughput_mibps = 760 }
  }
  expect_failures = [google_container_node_pool.validators]
}

run "too_little_throughput_for_the_iops" {
  command = plan
  variables {
    data_disk = { size_gib = 400, iops = 64000, throughput_mibps = 200 }
  }
  expect_failures = [google_container_node_pool.validators]
}

run "a_disk_beyond_the_machine" {
  command = plan
  variables {
    data_disk = { size_gib = 400, iops = 80000, throughput_mibps = 700 }
  }
  expect_failures = [google_container_node_pool.validators]
}

run "compact_in_two_zones" {
  command = plan
  variables {
    placement = "COMPACT"
  }
  expect_failures = [google_container_node_pool.validators]
}

run "a_pool_of_another_size" {
  command = plan
  variables {
    pool_size = "NONE"
  }
  expect_failures = [var.pool_size]
}

run "a_reservation_by_its_address" {
  command = plan
  variables {
    reservation = "https://compute.googleapis.com/projects/test-project/zones/us-east1-b/reservations/run"
  }
  expect_failures = [var.reservation]
}

run "a_reservation_without_a_name" {
  command = plan
  variables {
    reservation = ""
  }
  expect_failures = [var.reservation]
}

run "compact_of_a_reservation" {
  command = plan
  variables {
    zones       = ["us-east1-b"]
    placement   = "COMPACT"
    reservation = "run"
  }
  expect_failures = [google_container_node_pool.validators]
}

run "tier_1_for_a_small_machine" {
  command = plan
  variables {
    egress_tier = "TIER_1"
  }
  expect_failures = [google_container_node_pool.validators]
}

run "words_that_mean_nothing" {
  command = plan
  variables {
    placement           = "SPREAD"
    egress_tier         = "TIER_2"
    deletion_protection = "on"
  }
  expect_failures = [var.placement, var.egress_tier, var.deletion_protection]
}
