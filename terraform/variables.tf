# SPDX-License-Identifier: Apache-2.0

variable "project_id" {
  description = "The Google Cloud project that everything is made in."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project_id))
    error_message = "project_id is \"${var.project_id}\", but must be the id of a project: 6 to 30 lower-case letters, digits and dashes."
  }
}

variable "name" {
  description = "The name of the installation, and the beginning of the names of what is made."
  type        = string
  default     = "shardyard"
  nullable    = false

  validation {
    # A cluster's name is NAME-REGION and has at most 40 characters; a service account's is NAME-nodes, 6 to 30.
    condition     = can(regex("^[a-z][a-z0-9-]{0,14}[a-z0-9]$", var.name))
    error_message = "name is \"${var.name}\", but must be 2 to 16 lower-case letters, digits and dashes, a letter first and no dash last."
  }
}

variable "regions" {
  description = <<-EOT
    The regions, each with a cluster of its own:
    - nodes: validators' machines, which the zones share;
    - zones: where they are;
    - node_range, pod_range, service_range: addresses, in CIDR notation;
    - pool_size: FIXED keeps that many machines, and is the default; AS_NEEDED has as many as pods ask for, none while
      there are none, and at most that many. In home_region it does not go with networks that have placement.nodeTuning,
      unless a machine is there: before one is tuned, such a network has no pods that would ask for one;
    - reservation: the reservation that the validators' machines are taken of, by its name, which it has in each of the
      zones, or as projects/PROJECT/reservations/NAME where another project shares it. Without one they are whatever the
      zones have to give.
  EOT
  type = map(object({
    nodes         = number
    zones         = list(string)
    node_range    = string
    pod_range     = string
    service_range = string
    pool_size     = optional(string, "FIXED")
    reservation   = optional(string)
  }))
  nullable = false
}

variable "home_region" {
  description = "The region whose cluster runs the operator."
  type        = string
  nullable    = false
}

variable "admin_ranges" {
  description = "From where kubectl reaches the control planes: ranges in CIDR notation, by what they are. Nobody else reaches them but the operator."
  type        = map(string)
  nullable    = false

  validation {
    condition     = alltrue([for range in values(var.admin_ranges) : can(cidrhost(range, 0))])
    error_message = "admin_ranges holds what is no range in CIDR notation, as in 198.51.100.7/32: ${join(", ", [for name, range in var.admin_ranges : "${name} ${range}" if !can(cidrhost(range, 0))])}."
  }

  validation {
    condition     = !contains(values(var.admin_ranges), "0.0.0.0/0")
    error_message = "admin_ranges opens the control planes to everybody: name the addresses that need them."
  }

  validation {
    condition     = !contains(keys(var.admin_ranges), "operator")
    error_message = "admin_ranges has a range by the name of operator, which is what the operator's own address is called: give it another name."
  }
}

variable "machine_type" {
  description = "The type of the validators' machines."
  type        = string
  default     = "c4d-highmem-16"
  nullable    = false
}

variable "boot_disk" {
  description = "The boot disk of the validators' machines."
  type = object({
    type             = optional(string, "hyperdisk-balanced")
    size_gib         = optional(number, 200)
    iops             = optional(number, 4200)
    throughput_mibps = optional(number, 420)
  })
  default  = {}
  nullable = false
}

variable "data_disk" {
  description = "The disk of each validator, as in the networks' spec.volume, or null where they have none. The operator makes these disks; here they are checked and priced."
  type = object({
    size_gib         = number
    iops             = number
    throughput_mibps = number
  })
  default = null
}

variable "system_pool" {
  description = "The machines of each cluster for everything but validators: Kubernetes' own pods, the operator, Prometheus."
  type = object({
    machine_type   = optional(string, "e2-standard-4")
    nodes_per_zone = optional(number, 1)
    disk_size_gib  = optional(number, 100)
  })
  default  = {}
  nullable = false
}

variable "sysctls" {
  description = "Kernel settings of the validators' machines in place of the module's, or null for those."
  type        = map(string)
  default     = null
}

variable "placement" {
  description = "COMPACT puts the validators' machines of a zone close together; ANY leaves it to Google."
  type        = string
  default     = "ANY"
  nullable    = false
}

variable "egress_tier" {
  description = "TIER_1 buys a higher limit of outgoing traffic for machines of 48 vCPU and more; DEFAULT does not."
  type        = string
  default     = "DEFAULT"
  nullable    = false
}

variable "kubernetes_version" {
  description = "The version of Kubernetes when the clusters are made, such as 1.34 for its latest patch."
  type        = string
  default     = "1.34"
  nullable    = false
}

variable "mtu_bytes" {
  description = "The largest packet of the network: 1460 as Google sets it, up to 8896."
  type        = number
  default     = 1460
  nullable    = false
}

variable "result_writers" {
  description = "Who may add results to the bucket and read them: IAM members, such as user:EMAIL."
  type        = set(string)
  default     = []
  nullable    = false
}

variable "result_retention_days" {
  description = "After how many days a result is deleted."
  type        = number
  default     = 365
  nullable    = false
}

variable "deletion_protection" {
  description = "ENABLED keeps terraform destroy from deleting the clusters."
  type        = string
  default     = "DISABLED"
  nullable    = false
}

variable "run_hours" {
  description = "How long a run keeps the machines, for the estimate of its cost."
  type        = number
  default     = 3
  nullable    = false
}
