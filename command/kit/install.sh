#!/bin/sh
# Installs agent {{.Agent}} of run {{.Run}} as a service, and starts it. Run as root, beside certs/.
# DESTDIR is put before /etc, for a trial.
set -eu
cd "$(dirname "$0")"
etc=${DESTDIR:-}/etc
for f in cluster.json agent-{{.Agent}}.env certs/site.json certs/ca.pem certs/agent-{{.Agent}}.pem certs/agent-{{.Agent}}-key.pem; do
  [ -s "$f" ] || { echo "install.sh: $f is missing; README.txt tells where it comes from" >&2; exit 2; }
done
if grep -n FILL_IN agent-{{.Agent}}.env certs/site.json; then
  echo "install.sh: FILL_IN must be replaced" >&2
  exit 2
fi
for f in cluster.json site.json certs/ca.pem; do # of all agents of this machine
  new=$f
  [ "$f" != site.json ] || new=certs/site.json
  if [ -e "$etc/dsbo/$f" ] && ! cmp -s "$new" "$etc/dsbo/$f"; then
    echo "install.sh: $etc/dsbo/$f is another one: compare the two, and remove the one there" >&2
    exit 2
  fi
done
DSBO_VERB=agent DSBO_FLAGS=
set -a
. ./agent-{{.Agent}}.env
set +a
code=0
{{.Program}} "$DSBO_VERB" -check -agent={{.Agent}} -cluster=cluster.json -certs=certs -out="${TMPDIR:-/tmp}" $DSBO_FLAGS || code=$?
[ $code -ne 2 ] || exit 2
[ $code -eq 0 ] || echo "install.sh: the agent tries again what was not reached, until the other sites have come"
install -d -m 755 "$etc/dsbo" "$etc/systemd/system"
install -d -m 700 "$etc/dsbo/certs"
install -m 644 cluster.json certs/site.json "$etc/dsbo/"
install -m 600 agent-{{.Agent}}.env "$etc/dsbo/"
install -m 600 certs/ca.pem certs/agent-{{.Agent}}.pem certs/agent-{{.Agent}}-key.pem "$etc/dsbo/certs/"
install -m 644 dsbo-agent@.service "$etc/systemd/system/"
systemctl daemon-reload
systemctl enable --now dsbo-agent@{{.Agent}}
