#!/bin/bash
# consortium.sh DSBO OTHER DIR: a consortium of six in network namespaces of this machine, as README.md has it, by root where
# there are iproute2, nftables, openssl and tinyproxy. Sites 0 and 1 can be reached, at port 443; 2 and 3 have an HTTP proxy
# alone, which lets CONNECT to port 443 through; 4 and 5 reach port 443 alone. Amid the run an agent is killed, a site is
# cut off, one goes over to the program OTHER, of another revision, a seventh one joins, and one is removed. Reports and
# audits are verified at the end. Nothing leaves the namespaces, and they go with the script.
set -euo pipefail
dsbo=$(realpath "$1") other=$(realpath "$2")
mkdir "$3"
cd "$3"
dir=$PWD net=10.77.0 began=$SECONDS commands=0
export PATH=$dir/bin:$PATH

spaces='hub relay proxy 0 1 2 3 4 5 6'
ns() { ip netns exec "dsbo-$1" "${@:2}"; }
clean() {
	for s in $spaces; do
		ip netns pids "dsbo-$s" 2>/dev/null | xargs -r kill -9 || true
		ip netns del "dsbo-$s" 2>/dev/null || true
	done
}
trap clean EXIT
trap 'exit 1' INT TERM
clean

for s in $spaces; do
	ip netns add "dsbo-$s"
	ns "$s" ip link set lo up
done
ns hub ip link add br0 type bridge
ns hub ip link set br0 up
for s in relay:100 proxy:99 0:10 1:11 2:12 3:13 4:14 5:15 6:16; do
	of=${s%:*}
	ns hub ip link add "to-$of" type veth peer name eth0 netns "dsbo-$of"
	ns hub ip link set "to-$of" master br0 up
	ns "$of" ip addr add "$net.${s#*:}/24" dev eth0
	ns "$of" ip link set eth0 up
done
# firewall SITE RULE: what the site may begin; nobody begins anything with it.
firewall() {
	ns "$1" nft "add table inet f; add chain inet f out { type filter hook output priority 0; policy drop; }
		add rule inet f out oif lo accept; add rule inet f out ct state established accept; add rule inet f out $2 accept
		add chain inet f in { type filter hook input priority 0; policy drop; }
		add rule inet f in iif lo accept; add rule inet f in ct state established accept"
}
for i in 2 3; do firewall $i "ip daddr $net.99 tcp dport 3128"; done
for i in 4 5 6; do firewall $i "tcp dport 443"; done
printf 'Port 3128\nListen %s.99\nAllow %s.0/24\nConnectPort 443\nMaxClients 50\nTimeout 600\n' $net $net >proxy.conf
ns proxy tinyproxy -d -c proxy.conf >proxy.log 2>&1 &

step() { printf '%4d s  %s\n' $((SECONDS - began)) "$*"; }
# counted COMMAND...: a command that README.md counts.
counted() {
	commands=$((commands + 1))
	"$@"
}
# until_log SITE PATTERN FROM: waits until a line after line FROM of the site's log has the pattern.
until_log() {
	for _ in $(seq 300); do
		if tail -n +"$(($3 + 1))" "site$1/log" | grep -q "$2"; then return; fi
		sleep 0.2
	done
	step "site $1 has not logged: $2"
	tail -n 3 site?/log
	exit 1
}
lines() { wc -l <"site$1/log"; }

# A stand-in for systemd, at each site: the agent of the unit, with its environment and Restart=on-failure.
mkdir bin authority requests
cat >bin/systemctl <<'END'
#!/bin/bash
case $* in *dsbo-agent@*) ;; *) exit 0 ;; esac
n=${!#} n=${n##*@} etc=$DESTDIR/etc/dsbo
set -a
. "$etc/agent-$n.env"
(
	while :; do
		"$DESTDIR/dsbo" "$DSBO_VERB" -agent="$n" -cluster="$etc/cluster.json" -certs="$etc/certs" -out="$DESTDIR" $DSBO_FLAGS &
		echo $! >"$DESTDIR/pid"
		code=0
		wait $! || code=$?
		echo "{\"exit\":$code}"
		case $code in 0 | 2 | 3 | 130) break ;; esac
		sleep 2
	done
) >>"$DESTDIR/log" 2>&1 </dev/null &
END
chmod +x bin/systemctl
cp "$dsbo" bin/dsbo

cat >cluster.json <<END
{"run": "six", "agents": ["$net.10:443", "$net.11:443", "", "", "", ""], "relay": "$net.100:443", "task": "tune",
 "quorum": 4, "absent_after": "6s", "flags": ["-target=ill", "-drop=patient", "-K=${K:-200}"]}
END
table() {
	awk -v s="$1" 'BEGIN { srand(s + 1); print "patient,age,dose,mark,ward,ill"; for (i = 0; i < 120; i++) {
		a = 20 + 60 * rand(); d = rand(); m = rand(); print s "-" i "," a "," d "," m "," (rand() < .5 ? "north" : "south") "," \
		(a / 80 + d - m + rand() > 1 ? "yes" : "no") } }'
}

step 'the authority and the kits'
counted openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout authority/ca-key.pem \
	-out authority/ca.pem -days 3650 -subj "/CN=our consortium" 2>/dev/null
counted dsbo kit -cluster cluster.json -ca authority -out kits
mkdir relay
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout relay/relay-key.pem -out relay.csr -subj /CN=relay 2>/dev/null
echo "subjectAltName=IP:$net.100" >relay.names
openssl x509 -req -in relay.csr -CA authority/ca.pem -CAkey authority/ca-key.pem -days 90 -extfile relay.names \
	-out relay/relay.pem 2>/dev/null
cp authority/ca.pem relay
ns relay dsbo relay -listen ":443" -certs relay >relay.log 2>&1 &
for i in 0 1 2 3 4 5; do
	mkdir "site$i"
	tar xzf "kits/six-agent-$i.tar.gz" -C "site$i" --strip-components=1
	table $i >"site$i/ours.csv"
	cp "$dsbo" "site$i/dsbo"
	counted dsbo pki request -agent $i -out "site$i/certs" >/dev/null
	cp "site$i/certs/agent-$i.csr" requests
	sed -i "s|FILL_IN|$dir/site$i/ours.csv|; s|-log=json|-log=json -silent-after=2s -listen=:443|" "site$i/agent-$i.env"
	case $i in
	[2-5]) sed -i 's| -listen=:443||' "site$i/agent-$i.env" ;;
	esac
	case $i in
	[23]) echo "HTTPS_PROXY=http://$net.99:3128" >>"site$i/agent-$i.env" ;;
	esac
done
printf 'yes\n%.0s' 0 1 2 3 4 5 | counted sh kits/sign.sh authority requests/agent-*.csr >/dev/null
commands=$((commands + 1)) # of the pipe, in a shell of its own
for i in 0 1 2 3 4 5; do
	cp "requests/agent-$i.pem" "site$i/certs"
	DESTDIR=$dir/site$i counted ns $i sh "site$i/install.sh" >"site$i/install.log" 2>&1
done
until_log 0 '"msg":"record"' 0
step "$commands commands, and the six compute"
[ $commands = 15 ]

at=$(lines 0)
kill -9 "$(cat site1/pid)"
until_log 0 '"a session begins"' "$at"
step 'agent 1 was killed, and is back'

at=$(lines 0)
ns hub ip link set to-2 down
until_log 0 '"members":\[0,1,3,4,5\]' "$at"
step 'site 2 is cut off, and the others go on'
at=$(lines 0)
ns hub ip link set to-2 up
until_log 0 '"members":\[0,1,2,3,4,5\]' "$at"
step 'site 2 is back'

at=$(lines 0)
kill "$(cat site3/pid)"
until_log 3 '"exit":130' 0
cp --remove-destination "$other" site3/dsbo
DESTDIR=$dir/site3 ns 3 systemctl enable --now dsbo-agent@3
until_log 0 '"a session begins"' "$at"
step "site 3 has another program: $(site3/dsbo version | head -1)"

at=$(lines 0)
mkdir -p site6/etc/dsbo signed
cp -r site4/etc/dsbo/. site6/etc/dsbo
sed "s|site4|site6|" site4/etc/dsbo/agent-4.env >site6/etc/dsbo/agent-6.env
rm -r site6/etc/dsbo/certs
table 6 >site6/ours.csv
cp "$dsbo" site6/dsbo
dsbo pki request -agent 6 -out site6/etc/dsbo/certs >/dev/null
echo subjectAltName=DNS:agent-6,URI:dsbo:run:six >six.names
openssl x509 -req -in site6/etc/dsbo/certs/agent-6.csr -CA authority/ca.pem -CAkey authority/ca-key.pem -days 90 \
	-extfile six.names -out site6/etc/dsbo/certs/agent-6.pem 2>/dev/null
cp authority/ca.pem site6/etc/dsbo/certs
dsbo pki admission -ca authority -cluster cluster.json -agent 6 -neighbours 0,1 -out signed
cp signed/* site6/etc/dsbo/certs
DESTDIR=$dir/site6 ns 6 systemctl enable --now dsbo-agent@6
until_log 0 '"members":\[0,1,2,3,4,5,6\]' "$at"
step 'site 6 has joined'

at=$(lines 0)
dsbo pki remove -ca authority -cluster cluster.json -agent 5 -out signed
cp signed/*.removal site0/etc/dsbo/certs
until_log 0 '"members":\[0,1,2,3,4,6\]' "$at"
until_log 5 '"exit":2' 0
step 'site 5 is removed, and has ended'

for i in 0 1 2 3 4 6; do until_log $i '"exit":' 0; done
for i in 0 1 2 3 4 6; do until_log $i '"exit":0' 0; done
step 'all others have finished'
dsbo collect -report=false -out all site[012346]/agent-* | tail -1
for i in 0 1 2 3 4 6; do dsbo disclosure -certs authority -cluster cluster.json "site$i/agent-$i"; done
for i in 0 1 2 3 4 5 6; do dsbo audit "site$i/agent-$i"; done
step 'reports and audits are verified'
