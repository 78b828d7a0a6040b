# SPDX-License-Identifier: Apache-2.0

# What outlives a run: the images that it ran, and its results.

resource "google_artifact_registry_repository" "images" {
  project       = var.project_id
  location      = var.location
  repository_id = var.name
  description   = "Images of the operator and of nodes"
  format        = "DOCKER"

  docker_config {
    # A result names the image that it is of.
    immutable_tags = true
  }

  cleanup_policies {
    id     = "untagged"
    action = "DELETE"

    condition {
      tag_state  = "UNTAGGED"
      older_than = "604800s"
    }
  }
}

resource "google_artifact_registry_repository_iam_member" "readers" {
  for_each = var.image_readers

  project    = var.project_id
  location   = google_artifact_registry_repository.images.location
  repository = google_artifact_registry_repository.images.name
  role       = "roles/artifactregistry.reader"
  member     = each.value
}

resource "google_storage_bucket" "results" {
  project                     = var.project_id
  name                        = "${var.project_id}-${var.name}-results"
  location                    = var.location
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  # Results are read in the days after a run, and kept for comparison.
  lifecycle_rule {
    condition {
      age = 30
    }
    action {
      type          = "SetStorageClass"
      storage_class = "NEARLINE"
    }
  }

  lifecycle_rule {
    condition {
      age = var.result_retention_days
    }
    action {
      type = "Delete"
    }
  }
}

# Writers add results and replace none: objectCreator cannot delete.
resource "google_storage_bucket_iam_member" "writers" {
  for_each = {
    for grant in setproduct(var.result_writers, ["roles/storage.objectCreator", "roles/storage.objectViewer"]) :
    join(" ", grant) => { member = grant[0], role = grant[1] }
  }

  bucket = google_storage_bucket.results.name
  role   = each.value.role
  member = each.value.member
}
