# SPDX-License-Identifier: Apache-2.0

mock_provider "google" {}

variables {
  project_id    = "test-project"
  name          = "yard"
  home_region   = "us-east1"
  validator_tag = "yard-validator"
  regions = {
    us-east1 = { node_range = "10.0.0.0/22", pod_range = "10.64.0.0/18", service_range = "10.96.0.0/20" }
    us-east4 = { node_range = "10.0.4.0/22", pod_range = "10.64.64.0/18", service_range = "10.96.16.0/20" }
  }
}

run "regions_share_a_network" {
  command = plan

  assert {
    condition     = google_compute_network.this.auto_create_subnetworks == false && google_compute_network.this.mtu == 1460
    error_message = "A network of its own subnetworks and of Google's packet size was expected."
  }
  assert {
    condition = {
      for region, subnetwork in google_compute_subnetwork.this :
      region => concat([subnetwork.region, subnetwork.ip_cidr_range], flatten([for range in subnetwork.secondary_ip_range : [range.range_name, range.ip_cidr_range]]))
      } == {
      us-east1 = ["us-east1", "10.0.0.0/22", "pods", "10.64.0.0/18", "services", "10.96.0.0/20"]
      us-east4 = ["us-east4", "10.0.4.0/22", "pods", "10.64.64.0/18", "services", "10.96.16.0/20"]
    }
    error_message = "Each region has a subnetwork of its ranges."
  }
  assert {
    condition     = keys(google_compute_router_nat.this) == ["us-east1", "us-east4"]
    error_message = "Machines of each region reach the internet through NAT."
  }
}

run "validators_reach_each_other_and_are_read_from_home" {
  command = plan

  assert {
    condition     = google_compute_firewall.p2p.source_ranges == toset(["10.64.0.0/18", "10.64.64.0/18"])
    error_message = "Validators are reached by the pods of all regions."
  }
  assert {
    condition     = google_compute_firewall.http.source_ranges == toset(["10.64.0.0/18"])
    error_message = "The HTTP API is reached by the pods of the home region only."
  }
  assert {
    condition     = google_compute_firewall.admin.source_ranges == toset(["10.64.0.0/18"])
    error_message = "The admin API is reached by the pods of the home region only."
  }
  assert {
    condition     = alltrue([for rule in [google_compute_firewall.p2p, google_compute_firewall.http, google_compute_firewall.admin] : rule.target_tags == toset(["yard-validator"])])
    error_message = "The rules are for the machines of validators."
  }
  assert {
    condition     = [for rule in [google_compute_firewall.p2p, google_compute_firewall.http, google_compute_firewall.admin] : one(one(rule.allow).ports)] == [for port in ["p2p", "http", "admin"] : tostring(local.names.ports[port])]
    error_message = "Each rule is for one port of validators."
  }
}

run "refuses_overlapping_ranges" {
  command = plan
  variables {
    regions = {
      us-east1 = { node_range = "10.0.0.0/22", pod_range = "10.64.0.0/18", service_range = "10.96.0.0/20" }
      us-east4 = { node_range = "10.0.4.0/22", pod_range = "10.64.32.0/19", service_range = "10.96.16.0/20" }
    }
  }
  expect_failures = [google_compute_network.this]
}

run "refuses_what_is_no_range" {
  command = plan
  variables {
    regions = {
      us-east1 = { node_range = "10.0.0.0", pod_range = "10.64.0.0/18", service_range = "10.96.0.0/20" }
    }
  }
  expect_failures = [google_compute_network.this]
}

run "refuses_a_range_that_does_not_begin_where_it_says" {
  command = plan
  variables {
    regions = {
      us-east1 = { node_range = "10.0.1.0/22", pod_range = "10.64.0.0/18", service_range = "10.96.0.0/20" }
    }
  }
  expect_failures = [google_compute_network.this]
}

run "refuses_a_home_elsewhere" {
  command = plan
  variables {
    home_region = "us-west1"
  }
  expect_failures = [google_compute_network.this]
}

run "refuses_no_regions" {
  command = plan
  variables {
    regions = {}
  }
  expect_failures = [var.regions]
}

run "refuses_packets_that_are_too_large" {
  command = plan
  variables {
    mtu_bytes = 9000
  }
  expect_failures = [var.mtu_bytes]
}
