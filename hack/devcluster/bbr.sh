# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# BBR for pods. A pod's network namespace may use the congestion controls that the machine allows to everybody, and
# only the machine itself can allow one.

bbr_control=/proc/sys/net/ipv4/tcp_allowed_congestion_control
bbr_before=$state/tcp_allowed_congestion_control

bbr_listed() { [[ " $(<"$1") " == *" bbr "* ]]; }

bbr_allow() {
	# Where Docker runs in a virtual machine, that machine's settings are out of reach.
	[[ -e $bbr_control ]] || return 0
	if bbr_listed "$bbr_control"; then return; fi
	bbr_listed "${bbr_control/allowed/available}" || modprobe --quiet tcp_bbr || true
	if ! bbr_listed "${bbr_control/allowed/available}"; then
		echo "devcluster: this kernel has no BBR: pods that set it will not start" >&2
	elif [[ ! -w $bbr_control ]]; then
		echo "devcluster: BBR is not allowed here: pods that set it will not start. As root: echo" \
			"'$(<"$bbr_control") bbr' >$bbr_control" >&2
	else
		cp "$bbr_control" "$bbr_before"
		echo "$(<"$bbr_before") bbr" >"$bbr_control"
		echo "devcluster: allowed BBR on this machine until cluster-down"
	fi
}

# bbr_restore puts back what bbr_allow changed.
bbr_restore() {
	[[ ! -s $bbr_before ]] || cat "$bbr_before" >"$bbr_control"
}
