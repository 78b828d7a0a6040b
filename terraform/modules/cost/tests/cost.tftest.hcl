# SPDX-License-Identifier: Apache-2.0

variables {
  nodes        = { us-central1 = 47, us-east1 = 47, us-east4 = 46 }
  machine_type = "c4d-highmem-16"
  boot_disk    = { size_gib = 200, iops = 4200, throughput_mibps = 420 }
  data_disk    = { size_gib = 400, iops = 20000, throughput_mibps = 1144 }
  run_hours    = 2
}

# By the prices of the file: 0.996177848 per machine; (16 + 6 + 11.2) / 730 per boot disk; (32 + 85 + 40.16) / 730 per
# data disk; 0.1 per cluster; 61 MiB/s of each node, of which 9798/19460 * 2 leave the region, at 0.02 per GiB.
run "three_regions" {
  command = plan

  assert {
    condition = output.estimate.per_hour_of == {
      machines = 139.46, boot_disks = 6.37, data_disks = 30.14, clusters = 0.3, traffic = 403.17,
    }
    error_message = "The parts are ${jsonencode(output.estimate.per_hour_of)}."
  }
  assert {
    condition     = output.estimate.per_hour == 579.44 && output.estimate.per_run == 1158.89
    error_message = "The sums are ${output.estimate.per_hour} and ${output.estimate.per_run}."
  }
  assert {
    condition     = length(output.estimate.no_prices_of) == 0
    error_message = "Everything has a price, but not ${jsonencode(output.estimate.no_prices_of)}."
  }
}

run "one_region_pays_for_no_traffic" {
  command = plan
  variables {
    nodes = { us-central1 = 4 }
  }
  assert {
    condition     = output.estimate.per_hour_of.traffic == 0 && output.estimate.per_hour_of.clusters == 0.1
    error_message = "The parts are ${jsonencode(output.estimate.per_hour_of)}."
  }
}

run "one_machine" {
  command = plan
  variables {
    nodes = { us-central1 = 1 }
  }
  assert {
    condition     = output.estimate.per_hour_of.machines == 1
    error_message = "The parts are ${jsonencode(output.estimate.per_hour_of)}."
  }
}

run "no_data_disk" {
  command = plan
  variables {
    data_disk = null
  }
  assert {
    condition     = output.estimate.per_hour_of.data_disks == 0
    error_message = "The parts are ${jsonencode(output.estimate.per_hour_of)}."
  }
}

run "what_is_included_costs_nothing" {
  command = plan
  variables {
    nodes     = { us-central1 = 73 }
    data_disk = { size_gib = 100, iops = 3000, throughput_mibps = 140 }
  }
  assert {
    condition     = output.estimate.per_hour_of.data_disks == 0.8
    error_message = "The parts are ${jsonencode(output.estimate.per_hour_of)}."
  }
}

run "a_machine_without_a_price" {
  command = plan
  variables {
    machine_type = "c4d-highmem-32"
  }
  assert {
    condition     = output.estimate.per_hour_of.machines == null && output.estimate.per_hour == null && output.estimate.per_run == null
    error_message = "What is not known is null: ${jsonencode(output.estimate)}."
  }
  assert {
    condition     = output.estimate.no_prices_of == tolist(["machines in us-central1", "machines in us-east1", "machines in us-east4"])
    error_message = "No prices of ${jsonencode(output.estimate.no_prices_of)}."
  }
}

run "a_region_without_prices" {
  command = plan
  variables {
    nodes = { us-central1 = 2, europe-west4 = 2 }
  }
  assert {
    condition     = alltrue([for part in ["machines", "boot_disks", "data_disks", "traffic"] : output.estimate.per_hour_of[part] == null])
    error_message = "What is not known is null: ${jsonencode(output.estimate.per_hour_of)}."
  }
}

run "refuses_a_run_of_no_time" {
  command = plan
  variables {
    run_hours = 0
  }
  expect_failures = [var.run_hours]
}
