# SPDX-License-Identifier: Apache-2.0

variable "project_id" {
  description = "The project that everything is made in."
  type        = string
  nullable    = false
}

variable "name" {
  description = "The name of the network, and the beginning of the names of what belongs to it."
  type        = string
  nullable    = false
}

variable "regions" {
  description = "The ranges of each region: of machines, pods and services, in CIDR notation."
  type = map(object({
    node_range    = string
    pod_range     = string
    service_range = string
  }))
  nullable = false

  validation {
    condition     = length(var.regions) > 0
    error_message = "regions must name at least one region."
  }
}

variable "home_region" {
  description = "The region of the cluster with the operator and Prometheus, which read the HTTP API of every validator."
  type        = string
  nullable    = false
}

variable "validator_tag" {
  description = "The network tag of the machines that validators may run on."
  type        = string
  nullable    = false
}

variable "mtu_bytes" {
  description = "The largest packet of the network: 1460 as Google sets it, up to 8896."
  type        = number
  default     = 1460
  nullable    = false

  validation {
    condition     = var.mtu_bytes >= 1300 && var.mtu_bytes <= 8896
    error_message = "mtu_bytes is ${var.mtu_bytes}, but must be between 1300 and 8896."
  }
}
