{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{/* Not empty when the policies that narrow Pod Security are wanted and the cluster has that kind. */}}
{{- define "shardyard.podSecurity" -}}
{{- if and .Values.podSecurity.enabled (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy") }}
{{- true }}
{{- end }}
{{- end }}

{{/* The sysctls of the TCP profile HighThroughput. */}}
{{- define "shardyard.networkSysctls" -}}
- net.core.somaxconn
- net.ipv4.tcp_congestion_control
- net.ipv4.tcp_max_syn_backlog
- net.ipv4.tcp_mtu_probing
- net.ipv4.tcp_no_metrics_save
- net.ipv4.tcp_rmem
- net.ipv4.tcp_slow_start_after_idle
- net.ipv4.tcp_wmem
{{- end }}

{{/* The sysctls that the level "restricted" allows. */}}
{{- define "shardyard.safeSysctls" -}}
- kernel.shm_rmid_forced
- net.ipv4.ip_local_port_range
- net.ipv4.ip_local_reserved_ports
- net.ipv4.ip_unprivileged_port_start
- net.ipv4.ping_group_range
- net.ipv4.tcp_fin_timeout
- net.ipv4.tcp_keepalive_intvl
- net.ipv4.tcp_keepalive_probes
- net.ipv4.tcp_keepalive_time
- net.ipv4.tcp_syncookies
{{- end }}

{{/* The port of the agents' reports. */}}
{{- define "shardyard.tuningPort" -}}
26800
{{- end }}

{{/* What may change the security of a pod: making it, and adding a container to it. */}}
{{- define "shardyard.podSecurityMatch" -}}
matchConstraints:
  resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [pods]
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [UPDATE]
      resources: [pods/ephemeralcontainers]
{{- end }}

{{- define "shardyard.podSecurityVariables" -}}
- name: pod
  expression: object.spec
- name: containers
  expression: >-
    variables.pod.containers + variables.pod.?initContainers.orValue([]) + variables.pod.?ephemeralContainers.orValue([])
{{- end }}

{{/* What neither networks nor agents need. */}}
{{- define "shardyard.podSecurityShared" -}}
- expression: "!variables.pod.?hostPID.orValue(false) && !variables.pod.?hostIPC.orValue(false)"
  message: pods may not share the processes of the machine
- expression: >-
    !variables.pod.?securityContext.?windowsOptions.?hostProcess.orValue(false) &&
    variables.containers.all(container, !container.?securityContext.?windowsOptions.?hostProcess.orValue(false))
  message: pods may not be host processes
- expression: variables.containers.all(container, !container.?securityContext.?privileged.orValue(false))
  message: containers may not be privileged
- expression: variables.containers.all(container, !container.?securityContext.?allowPrivilegeEscalation.orValue(true))
  message: containers have to say allowPrivilegeEscalation=false
- expression: variables.containers.all(container, 'ALL' in container.?securityContext.?capabilities.?drop.orValue([]))
  message: containers have to drop ALL capabilities
- expression: >-
    variables.containers.all(container, [container.?livenessProbe, container.?readinessProbe, container.?startupProbe,
    container.?lifecycle.?postStart, container.?lifecycle.?preStop].all(handler,
    handler.?httpGet.?host.orValue('') == '' && handler.?tcpSocket.?host.orValue('') == ''))
  message: probes and hooks may name no host
- expression: variables.containers.all(container, container.?securityContext.?procMount.orValue('Default') == 'Default')
  message: containers may have no other procMount than Default
- expression: >-
    variables.containers.all(container, container.?securityContext.?seccompProfile.?type.orValue(
    variables.pod.?securityContext.?seccompProfile.?type.orValue('')) in ['RuntimeDefault', 'Localhost'])
  message: containers, or their pod, have to have a seccompProfile of type RuntimeDefault or Localhost
- expression: >-
    variables.pod.?securityContext.?appArmorProfile.?type.orValue('RuntimeDefault') in ['RuntimeDefault', 'Localhost'] &&
    variables.containers.all(container, container.?securityContext.?appArmorProfile.?type.orValue('RuntimeDefault') in ['RuntimeDefault', 'Localhost'])
  message: the appArmorProfile may be RuntimeDefault or Localhost
- expression: >-
    variables.pod.?securityContext.?seLinuxOptions.?type.orValue('') in ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'] &&
    variables.containers.all(container,
    container.?securityContext.?seLinuxOptions.?type.orValue('') in ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'])
  message: the SELinux type may be one of containers
- expression: >-
    variables.pod.?securityContext.?seLinuxOptions.?user.orValue('') == '' &&
    variables.pod.?securityContext.?seLinuxOptions.?role.orValue('') == '' &&
    variables.containers.all(container, container.?securityContext.?seLinuxOptions.?user.orValue('') == '' &&
    container.?securityContext.?seLinuxOptions.?role.orValue('') == '')
  message: the SELinux user and role may not be set
{{- end }}
