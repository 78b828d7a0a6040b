# SPDX-License-Identifier: Apache-2.0

variable "project_id" {
  description = "The project that everything is made in."
  type        = string
  nullable    = false
}

variable "name" {
  description = "The name of the registry, and the end of the name of the bucket."
  type        = string
  nullable    = false
}

variable "location" {
  description = "Where images and results are kept: a region or a multi-region."
  type        = string
  nullable    = false
}

variable "image_readers" {
  description = "Who may pull images, by a key of your choice: IAM members, such as serviceAccount:EMAIL."
  type        = map(string)
  nullable    = false
}

variable "result_writers" {
  description = "Who may add results and read them: IAM members."
  type        = set(string)
  default     = []
  nullable    = false
}

variable "result_retention_days" {
  description = "After how many days a result is deleted."
  type        = number
  default     = 365
  nullable    = false

  validation {
    condition     = var.result_retention_days >= 1 && floor(var.result_retention_days) == var.result_retention_days
    error_message = "result_retention_days is ${var.result_retention_days}, but must be a whole number of days, at least 1."
  }
}
