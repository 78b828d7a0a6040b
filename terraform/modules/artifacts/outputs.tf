# SPDX-License-Identifier: Apache-2.0

output "registry" {
  description = "What the names of images begin with."
  value       = "${var.location}-docker.pkg.dev/${var.project_id}/${var.name}"
}

output "results_bucket" {
  description = "The name of the bucket of results."
  value       = google_storage_bucket.results.name
}
