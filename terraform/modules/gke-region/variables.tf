# SPDX-License-Identifier: Apache-2.0

variable "project_id" {
  description = "The project that everything is made in."
  type        = string
  nullable    = false
}

variable "name" {
  description = "The name of the installation. The cluster is NAME-REGION."
  type        = string
  nullable    = false
}

variable "region" {
  description = "The region of the cluster."
  type        = string
  nullable    = false
}

variable "zones" {
  description = "The zones of the machines. Each has a pool of validators' machines of its own."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.zones) > 0 && length(distinct(var.zones)) == length(var.zones)
    error_message = "zones is [${join(", ", var.zones)}], but must name at least one zone, and none twice."
  }
}

variable "nodes" {
  description = "The number of validators' machines, which the zones share as evenly as it divides."
  type        = number
  nullable    = false

  validation {
    condition     = var.nodes >= 1 && floor(var.nodes) == var.nodes
    error_message = "nodes is ${var.nodes}, but must be a whole number, at least 1."
  }
}

variable "pool_size" {
  description = "FIXED keeps that many validators' machines. AS_NEEDED has as many as pods ask for, none while there are none, and at most that many. A network that waits for a NodeTuning has no pods before a machine is tuned."
  type        = string
  default     = "FIXED"
  nullable    = false

  validation {
    condition     = contains(["FIXED", "AS_NEEDED"], var.pool_size)
    error_message = "pool_size is \"${var.pool_size}\", but must be FIXED or AS_NEEDED."
  }
}

variable "reservation" {
  description = "The reservation that the validators' machines are taken of, by its name, which it has in each of the zones, or as projects/PROJECT/reservations/NAME where another project shares it. Null takes whatever the zones have to give."
  type        = string
  default     = null

  validation {
    condition     = var.reservation == null || can(regex("^(projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/reservations/)?[a-z]([a-z0-9-]{0,61}[a-z0-9])?$", var.reservation))
    error_message = "reservation is \"${var.reservation == null ? "" : var.reservation}\", but must be the name of a reservation, or projects/PROJECT/reservations/NAME."
  }
}

variable "network" {
  description = "The id of the network."
  type        = string
  nullable    = false
}

variable "subnetwork" {
  description = "The id of the region's subnetwork, whose secondary ranges are named pods and services."
  type        = string
  nullable    = false
}

variable "pod_range" {
  description = "The range of the pods, in CIDR notation: the secondary range named pods."
  type        = string
  nullable    = false
}

variable "dns_domain" {
  description = "The domain of the cluster's DNS names, unique in the network: machines of all regions resolve it."
  type        = string
  nullable    = false
}

variable "authorized_ranges" {
  description = "Who may reach the control plane from the internet: ranges in CIDR notation, by what they are."
  type        = map(string)
  nullable    = false
}

variable "kubernetes_version" {
  description = "The version of Kubernetes when the cluster is made, such as 1.34 for its latest patch."
  type        = string
  default     = "1.34"
  nullable    = false

  validation {
    # c4d needs 1.32.3, and in a compact placement 1.33.
    condition     = can(regex("^1\\.[0-9]+", var.kubernetes_version)) && try(tonumber(split(".", var.kubernetes_version)[1]), 0) >= 33
    error_message = "kubernetes_version is ${var.kubernetes_version}, but must be 1.33 or later."
  }
}

variable "node_service_account" {
  description = "The email of the service account of all machines."
  type        = string
  nullable    = false
}

variable "validator_tag" {
  description = "The network tag of the machines that validators may run on."
  type        = string
  nullable    = false
}

variable "machine_type" {
  description = "The type of the validators' machines, as in the networks' spec.placement.machineType."
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

  validation {
    condition     = var.boot_disk.type == "hyperdisk-balanced"
    error_message = "boot_disk.type is ${var.boot_disk.type}, but must be hyperdisk-balanced: machines like c4d take no persistent disk, and no other type has IOPS and throughput to choose."
  }
}

variable "data_disk" {
  description = "The disk of each validator, as in the networks' spec.volume, or null where they have none. The operator makes these disks; here they are checked."
  type = object({
    size_gib         = number
    iops             = number
    throughput_mibps = number
  })
  default = null
}

variable "sysctls" {
  description = "Kernel settings of the validators' machines. What GKE does not take belongs to a NodeTuning, and what a pod can have to the networks' spec.tcp."
  type        = map(string)
  default = {
    "net.core.netdev_max_backlog" = "30000"
    "net.core.rmem_max"           = "134217728"
    "net.core.wmem_max"           = "134217728"
    # A machine that uses BBR lets its pods choose it.
    "net.ipv4.tcp_congestion_control" = "bbr"
    "net.ipv4.tcp_mtu_probing"        = "1"
    "net.ipv4.tcp_rmem"               = "10240 87380 134217728"
    "net.ipv4.tcp_wmem"               = "4096 87380 134217728"
  }
  nullable = false
}

variable "max_pods_per_node" {
  description = "How many pods a machine may run. Each machine takes twice as many addresses of the pods' range, rounded up to a power of two."
  type        = number
  default     = 32
  nullable    = false

  validation {
    condition     = var.max_pods_per_node >= 8 && var.max_pods_per_node <= 256
    error_message = "max_pods_per_node is ${var.max_pods_per_node}, but must be between 8 and 256."
  }
}

variable "placement" {
  description = "COMPACT puts the validators' machines of a zone close together; ANY leaves it to Google."
  type        = string
  default     = "ANY"
  nullable    = false

  validation {
    condition     = contains(["ANY", "COMPACT"], var.placement)
    error_message = "placement is ${var.placement}, but must be ANY or COMPACT."
  }
}

variable "egress_tier" {
  description = "TIER_1 buys a higher limit of outgoing traffic for machines of 48 vCPU and more; DEFAULT does not."
  type        = string
  default     = "DEFAULT"
  nullable    = false

  validation {
    condition     = contains(["DEFAULT", "TIER_1"], var.egress_tier)
    error_message = "egress_tier is ${var.egress_tier}, but must be DEFAULT or TIER_1."
  }
}

variable "system_pool" {
  description = "The machines for everything but validators: Kubernetes' own pods, the operator, Prometheus."
  type = object({
    machine_type   = optional(string, "e2-standard-4")
    nodes_per_zone = optional(number, 1)
    disk_size_gib  = optional(number, 100)
  })
  default  = {}
  nullable = false
}

variable "deletion_protection" {
  description = "ENABLED keeps terraform destroy from deleting the cluster."
  type        = string
  default     = "DISABLED"
  nullable    = false

  validation {
    condition     = contains(["ENABLED", "DISABLED"], var.deletion_protection)
    error_message = "deletion_protection is ${var.deletion_protection}, but must be ENABLED or DISABLED."
  }
}
