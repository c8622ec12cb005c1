#!/bin/sh
# Signs the requests of the sites of run {{.Run}}, for 90 days: sh sign.sh AUTHORITY REQUEST...
# AUTHORITY is the folder with ca.pem and ca-key.pem; a request is agent-3.csr, and its certificate
# agent-3.pem is put beside it. Each is signed after the answer that its site has read the same digest.
set -eu
[ $# -ge 2 ] || { echo "usage: sh sign.sh AUTHORITY REQUEST..." >&2; exit 2; }
ca=$1
shift
names=$(mktemp)
trap 'rm -f "$names"' EXIT
for csr; do
  name=$(basename "$csr" .csr)
  number=${name#agent-}
  case $number in '' | *[!0-9]* | 0[0-9]*) number={{.Agents}} ;; esac
  [ "$name" = "agent-$number" ] && [ "$number" -lt {{.Agents}} ] ||
    { echo "sign.sh: a request must be agent-0.csr to agent-{{.Last}}.csr; it is $csr" >&2; exit 2; }
  key=$(openssl req -in "$csr" -verify -noout -pubkey 2>/dev/null) ||
    { echo "sign.sh: $csr is no request that its own key has signed" >&2; exit 2; }
  digest=$(echo "$key" | openssl pkey -pubin -outform der | openssl dgst -sha256 -r | cut -d' ' -f1)
  printf '%s has the key\n  %s\nHas its site read the same (yes, no)? ' "$name" "$digest"
  read -r answer || answer=no
  [ "$answer" = yes ] || { echo "$name is not signed"; continue; }
  echo "subjectAltName=DNS:$name,URI:dsbo:run:{{.Run}}" > "$names"
  openssl x509 -req -in "$csr" -CA "$ca/ca.pem" -CAkey "$ca/ca-key.pem" -days 90 -extfile "$names" \
    -out "${csr%.csr}.pem" 2>/dev/null
  echo "${csr%.csr}.pem"
done
