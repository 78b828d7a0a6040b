# SPDX-License-Identifier: Apache-2.0

mock_provider "google" {}

variables {
  project_id     = "test-project"
  name           = "yard"
  location       = "us-east1"
  image_readers  = { nodes = "serviceAccount:nodes@example.com" }
  result_writers = ["user:runner@example.com"]
}

run "images_and_results_are_kept" {
  command = plan

  assert {
    condition     = output.registry == "us-east1-docker.pkg.dev/test-project/yard" && output.results_bucket == "test-project-yard-results"
    error_message = "The registry and the bucket are named after the project and the installation."
  }
  assert {
    condition     = google_artifact_registry_repository_iam_member.readers["nodes"].role == "roles/artifactregistry.reader"
    error_message = "Machines may pull images, and no more."
  }
  assert {
    condition     = google_storage_bucket.results.public_access_prevention == "enforced" && google_storage_bucket.results.uniform_bucket_level_access
    error_message = "Nobody reads results without a role."
  }
  assert {
    condition = [for rule in google_storage_bucket.results.lifecycle_rule : [one(rule.condition).age, one(rule.action).type]] == [
      [30, "SetStorageClass"], [365, "Delete"],
    ]
    error_message = "Results become cheaper after a month and go after a year."
  }
  assert {
    condition     = toset([for grant in values(google_storage_bucket_iam_member.writers) : grant.role]) == toset(["roles/storage.objectCreator", "roles/storage.objectViewer"])
    error_message = "Writers may add and read results, and not replace or delete them."
  }
}

run "refuses_to_keep_nothing" {
  command = plan
  variables {
    result_retention_days = 0
  }
  expect_failures = [var.result_retention_days]
}
