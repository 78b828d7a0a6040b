# SPDX-License-Identifier: Apache-2.0

locals {
  # The network settings that a node pool takes, of the field linuxNodeConfig.sysctls of the GKE API.
  gke_sysctls = toset([
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.netdev_max_backlog",
    "net.core.optmem_max",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
  ])

  refused_sysctls = sort(setsubtract(keys(var.sysctls), local.gke_sysctls))
}
