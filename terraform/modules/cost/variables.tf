# SPDX-License-Identifier: Apache-2.0

variable "nodes" {
  description = "The number of validators' machines in each region."
  type        = map(number)
  nullable    = false
}

variable "machine_type" {
  description = "The type of the validators' machines."
  type        = string
  nullable    = false
}

variable "boot_disk" {
  description = "The boot disk of each machine: Hyperdisk Balanced."
  type = object({
    size_gib         = number
    iops             = number
    throughput_mibps = number
  })
  nullable = false
}

variable "data_disk" {
  description = "The disk of each validator, or null where they have none."
  type = object({
    size_gib         = number
    iops             = number
    throughput_mibps = number
  })
  default = null
}

variable "run_hours" {
  description = "How long a run keeps the machines."
  type        = number
  nullable    = false

  validation {
    condition     = var.run_hours > 0
    error_message = "run_hours is ${var.run_hours}, but must be more than 0."
  }
}
