# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The certificates of the cluster and the kubeconfigs made of them. They live as long as the cluster's state.

pki=$state/pki
api_server=https://$(node_address 1):6443

# pki_authority makes the certificate authority and the key that signs service account tokens.
pki_authority() {
	mkdir -p "$pki"
	openssl ecparam -name prime256v1 -genkey -noout -out "$pki/ca.key"
	openssl req -x509 -new -key "$pki/ca.key" -subj /CN=shardyard-devcluster -days 365 -out "$pki/ca.crt" \
		-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign,digitalSignature
	openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$pki/sa.key"
	openssl pkey -in "$pki/sa.key" -pubout -out "$pki/sa.pub"
}

# pki_certificate NAME SUBJECT [ALTERNATIVE NAMES] makes NAME.key and NAME.crt, for a client and, with names, a server.
pki_certificate() {
	local name=$1 subject=$2 names=${3:-} usage=clientAuth
	[[ -z $names ]] || usage=serverAuth,clientAuth
	openssl ecparam -name prime256v1 -genkey -noout -out "$pki/$name.key"
	openssl req -new -key "$pki/$name.key" -subj "$subject" |
		openssl x509 -req -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -days 365 -out "$pki/$name.crt" -extfile <(
			echo keyUsage=critical,digitalSignature,keyEncipherment
			echo "extendedKeyUsage=$usage"
			[[ -z $names ]] || echo "subjectAltName=$names"
		) 2>/dev/null
}

# pki_kubeconfig NAME [FILE] writes the kubeconfig of a certificate.
pki_kubeconfig() {
	local name=$1 file=${2:-$pki/$1.kubeconfig}
	(
		umask 077
		cat >"$file.partial" <<-CONFIG
			apiVersion: v1
			kind: Config
			clusters:
			- name: shardyard
			  cluster:
			    server: $api_server
			    certificate-authority-data: $(base64 -w 0 "$pki/ca.crt")
			users:
			- name: $name
			  user:
			    client-certificate-data: $(base64 -w 0 "$pki/$name.crt")
			    client-key-data: $(base64 -w 0 "$pki/$name.key")
			contexts:
			- name: shardyard
			  context: {cluster: shardyard, user: $name}
			current-context: shardyard
		CONFIG
	)
	mv -f "$file.partial" "$file"
}

# pki_control_plane makes everything that the first node's servers and the machine's own clients need.
pki_control_plane() {
	local service=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
	service+=,DNS:kubernetes.default.svc.$(cluster_domain "$cluster"),IP:$(cluster_services "$cluster" | sed 's|0/16$|1|')
	pki_authority
	pki_certificate apiserver /CN=kube-apiserver "$service,DNS:localhost,IP:127.0.0.1,IP:$(node_address 1)"
	pki_certificate apiserver-kubelet /O=system:masters/CN=apiserver-kubelet
	pki_certificate controller-manager /CN=system:kube-controller-manager
	pki_certificate scheduler /CN=system:kube-scheduler
	pki_certificate proxy /CN=system:kube-proxy
	pki_certificate netpol /CN=devcluster:netpol
	pki_certificate admin /O=system:masters/CN=admin
	pki_kubeconfig controller-manager
	pki_kubeconfig scheduler
	pki_kubeconfig proxy
	pki_kubeconfig netpol
	pki_kubeconfig admin "$kubeconfig"
}

# pki_node INDEX makes the certificate of a node's kubelet.
pki_node() {
	local node address
	node=$(node_name "$1")
	address=$(node_address "$1")
	pki_certificate "$node" "/O=system:nodes/CN=system:node:$node" "DNS:$node,IP:$address"
	pki_kubeconfig "$node"
}
