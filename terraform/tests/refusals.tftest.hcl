# SPDX-License-Identifier: Apache-2.0

mock_provider "google" {}

variables {
  project_id   = "test-project"
  home_region  = "us-east1"
  admin_ranges = { office = "198.51.100.0/24" }
  regions = {
    us-east1 = {
      nodes         = 4
      zones         = ["us-east1-b"]
      node_range    = "10.0.0.0/22"
      pod_range     = "10.64.0.0/20"
      service_range = "10.96.0.0/20"
    }
  }
}

run "accepts_the_rest" {
  command = plan
}

run "a_name_with_capitals" {
  command = plan
  variables {
    name = "Bad_Name"
  }
  expect_failures = [var.name]
}

run "a_name_that_is_too_long_for_a_cluster" {
  command = plan
  variables {
    name = "seventeen-letters"
  }
  expect_failures = [var.name]
}

run "a_project_that_is_none" {
  command = plan
  variables {
    project_id = "My Project"
  }
  expect_failures = [var.project_id]
}

run "an_administrator_from_nowhere" {
  command = plan
  variables {
    admin_ranges = { office = "the office" }
  }
  expect_failures = [var.admin_ranges]
}

run "control_planes_for_everybody" {
  command = plan
  variables {
    admin_ranges = { all = "0.0.0.0/0" }
  }
  expect_failures = [var.admin_ranges]
}

run "an_administrator_in_the_place_of_the_operator" {
  command = plan
  variables {
    admin_ranges = { operator = "198.51.100.7/32" }
  }
  expect_failures = [var.admin_ranges]
}
