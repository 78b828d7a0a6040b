# SPDX-License-Identifier: Apache-2.0

# With -var-file=examples/4-shards-one-region.tfvars.

mock_provider "google" {}

variables {
  project_id   = "test-project"
  admin_ranges = { office = "198.51.100.0/24" }
}

run "machines" {
  command = apply
  # The volumes of the published run ask for more than the machine does.
  expect_failures = [check.volumes_share_the_machine]

  assert {
    condition     = output.nodes == { us-central1 = { "us-central1-a" = 4 } }
    error_message = "The machines are ${jsonencode(output.nodes)}."
  }
  assert {
    condition     = keys(output.clusters) == ["us-central1"]
    error_message = "One cluster was expected."
  }
}

run "bill" {
  command = plan
  # The volumes of the published run ask for more than the machine does.
  expect_failures = [check.volumes_share_the_machine]

  assert {
    condition     = output.cost.per_hour == 5.13 && output.cost.per_hour_of.traffic == 0
    error_message = "The estimate is ${jsonencode(output.cost)}."
  }
}
