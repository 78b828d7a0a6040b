# SPDX-License-Identifier: Apache-2.0

# With -var-file=examples/70-shards-three-regions.tfvars.

mock_provider "google" {
  mock_resource "google_service_account" {
    defaults = { email = "shardyard-nodes@test-project.iam.gserviceaccount.com" }
  }
}

variables {
  project_id   = "test-project"
  admin_ranges = { office = "198.51.100.0/24" }
}

run "machines" {
  command = plan
  # The volumes of the published run ask for more than the machine does.
  expect_failures = [check.volumes_share_the_machine]

  assert {
    condition     = { for region, zones in output.nodes : region => sum(values(zones)) } == { us-central1 = 47, us-east1 = 47, us-east4 = 46 }
    error_message = "The machines are ${jsonencode(output.nodes)}."
  }
}

run "clusters" {
  command = apply
  # The volumes of the published run ask for more than the machine does.
  expect_failures = [check.volumes_share_the_machine]

  assert {
    condition     = keys(output.clusters) == ["us-central1", "us-east1", "us-east4"] && output.home_region == "us-central1"
    error_message = "A cluster in each region was expected."
  }
  assert {
    condition     = [for cluster in values(output.clusters) : cluster.domain] == ["shardyard-us-central1.local", "shardyard-us-east1.local", "shardyard-us-east4.local"]
    error_message = "Each cluster has a domain of its own."
  }
  assert {
    condition     = alltrue([for cluster in values(output.clusters) : cluster.name != "" && cluster.endpoint != "" && cluster.ca_certificate != ""])
    error_message = "Joining a cluster takes its name, its endpoint and its authority."
  }
  assert {
    condition     = output.credentials["us-east4"] == "gcloud container clusters get-credentials shardyard-us-east4 --project test-project --region us-east4"
    error_message = "Each cluster has a command for its credentials."
  }
}

run "machines_do_what_their_account_may" {
  command = apply
  # The volumes of the published run ask for more than the machine does.
  expect_failures = [check.volumes_share_the_machine]

  assert {
    condition     = google_project_iam_member.nodes.role == "roles/container.defaultNodeServiceAccount" && google_project_iam_member.nodes.member == "serviceAccount:shardyard-nodes@test-project.iam.gserviceaccount.com"
    error_message = "The machines' account has the role of machines and no other."
  }
}

run "three_zones" {
  command = plan
  # The volumes of the published run ask for more than the machine does.
  expect_failures = [check.volumes_share_the_machine]
  variables {
    regions = {
      us-central1 = {
        nodes         = 47
        zones         = ["us-central1-a", "us-central1-b", "us-central1-c"]
        node_range    = "10.0.0.0/22"
        pod_range     = "10.64.0.0/18"
        service_range = "10.96.0.0/20"
      }
    }
  }
  assert {
    condition     = output.nodes.us-central1 == { "us-central1-a" = 16, "us-central1-b" = 16, "us-central1-c" = 15 }
    error_message = "47 machines in three zones are ${jsonencode(output.nodes)}."
  }
}

run "quotas" {
  command = plan
  # The volumes of the published run ask for more than the machine does.
  expect_failures = [check.volumes_share_the_machine]

  assert {
    condition = output.quotas == {
      us-central1 = { vcpus = 752, hyperdisk_size_gib = 28200, hyperdisk_iops = 1137400, hyperdisk_throughput_mibps = 73508 }
      us-east1    = { vcpus = 752, hyperdisk_size_gib = 28200, hyperdisk_iops = 1137400, hyperdisk_throughput_mibps = 73508 }
      us-east4    = { vcpus = 736, hyperdisk_size_gib = 27600, hyperdisk_iops = 1113200, hyperdisk_throughput_mibps = 71944 }
    }
    error_message = "The quotas are ${jsonencode(output.quotas)}."
  }
  # 140 machines for validators, and one of 4 vCPUs for everything else in each region.
  assert {
    condition     = output.project_quotas == { vcpus_all_regions = 140 * 16 + 3 * 4 }
    error_message = "The quotas of the project are ${jsonencode(output.project_quotas)}."
  }
}

run "quotas_of_machines_that_do_not_tell" {
  command = plan
  # The volumes of the published run ask for more than the machine does.
  expect_failures = [check.volumes_share_the_machine]
  variables {
    system_pool = { machine_type = "e2-medium" }
  }

  assert {
    condition     = output.project_quotas == { vcpus_all_regions = null } && output.quotas.us-east4.vcpus == 736
    error_message = "The quotas are ${jsonencode(output.quotas)}, and those of the project ${jsonencode(output.project_quotas)}."
  }
}

run "bill" {
  command = plan
  # The volumes of the published run ask for more than the machine does.
  expect_failures = [check.volumes_share_the_machine]

  assert {
    condition     = output.cost.per_hour == 579.44 && output.cost.per_run == 1738.33 && output.cost.run_hours == 3
    error_message = "The estimate is ${jsonencode(output.cost)}."
  }
}
