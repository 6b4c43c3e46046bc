package backendtest

// paths: FS-05, FS-06, FS-09 as far as a script can tell; the rest is in paths_linux_test.go.
var paths = []pair{
	{req: "FS-09", name: "a planted link in the workspace grants nothing", setup: `ln -s "$OUT" "$WS/writable-later"`, deny: `echo x > "$WS/writable-later/x"`, allow: `echo x > "$WS/x"`, after: `[ ! -e "$OUT/x" ]`},
	{req: "FS-05", name: "an argument grants no right", deny: `cp "$WS/own.txt" "$OUT/own.txt"`, allow: `cp "$WS/own.txt" "$WS/copy.txt"`},
}

// network: NET-01 as far as a script can tell.
var network = []pair{
	{req: "NET-01", name: "no interface but loopback", deny: `tail -n +3 /proc/net/dev | grep -v '^ *lo:'`, allow: `grep -q lo: /proc/net/dev`},
	{req: "NET-01", name: "no way out", noControl: "this machine may have no route either", deny: `timeout 3 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'`, allow: `true`},
	{req: "NET-01", name: "no names", noControl: "this machine may have no resolver", deny: `timeout 5 getent hosts example.com`, allow: `getent hosts localhost`},
	{req: "NET-01", name: "the interface cannot be set up", noControl: "it would change this machine", deny: `ip link add dummy0 type dummy || ip link set lo down`, allow: `true`},
	{req: "LNX-09", name: "loopback works inside", noControl: "", allow: `python3 - <<'X'
import socket
for fam, addr in ((socket.AF_INET, "127.0.0.1"),):
    s = socket.socket(fam); s.bind((addr, 0)); s.listen()
    c = socket.create_connection(s.getsockname()); a, _ = s.accept()
    a.sendall(b"hi"); assert c.recv(2) == b"hi"
X`},
	{req: "LNX-07", name: "sockets made inside work", allow: `cd "$WS" && python3 - <<'X'
import socket
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect("s"); a, _ = s.accept()
a.sendall(b"hi"); assert c.recv(2) == b"hi"
x, y = socket.socketpair(); x.sendall(b"hi"); assert y.recv(2) == b"hi"
X`},
}

// linux: LNX-01 to LNX-05, LNX-11.
var linux = []pair{
	{req: "LNX-01", name: "processes of the host are not there", deny: `[ "$(ls /proc | grep -c '^[0-9]')" -gt 12 ]`, allow: `[ -d /proc/1 ] && [ -d /proc/$$ ]`},
	{req: "LNX-01", name: "no signal reaches a process of the host", deny: `kill -0 $HOSTPID`, allow: `sleep 9 & kill $!`},
	{req: "LNX-01", name: "the machine's name cannot be changed", noControl: "it would rename this machine", deny: `hostname changed`, allow: `hostname`},
	{req: "LNX-01", name: "no capability is left", noControl: "an ordinary user has none outside either", deny: `grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):' /proc/self/status | grep -v '0000000000000000$'`, allow: `grep -q '^NoNewPrivs:.*1' /proc/self/status`},
	{req: "LNX-01", name: "no new mounts", noControl: "needs privileges that a user has not", deny: `mount -t tmpfs none "$WS/sub"`, allow: `ls "$WS/sub"`},
	{req: "LNX-01", name: "no way out of the root", noControl: "it stays where it is", deny: `chroot / true || pivot_root . . || nsenter -t 1 -m true`, allow: `true`},
	{req: "LNX-02", name: "no other device of the host", deny: `ls -A /dev | grep -vxE 'null|zero|full|random|urandom|tty|ptmx|pts|shm|fd|stdin|stdout|stderr|console|core'`, allow: `for d in null zero full random urandom tty ptmx pts shm fd stdin stdout stderr; do [ -e /dev/$d ] || [ -L /dev/$d ] || { echo no $d; exit 1; }; done`},
	{req: "LNX-02", name: "the devices work", deny: `echo x > /dev/full`, allow: `echo x > /dev/null && [ "$(head -c4 /dev/zero | tr '\0' z)" = zzzz ] && [ "$(head -c8 /dev/urandom | wc -c)" = 8 ]`, noControl: "the same outside"},
	{req: "LNX-02", name: "descriptor links work", allow: `echo a > /dev/stdout && echo b > /dev/stderr && cat < <(echo c) && cat /dev/stdin <<< d && echo e > /dev/fd/1`},
	{req: "LNX-02", name: "pseudo terminals work", allow: `python3 -c 'import pty,os; m,s=pty.openpty(); os.write(s,b"x"); assert os.read(m,1)==b"x"; print(os.ttyname(s))'`},
	{req: "LNX-02", name: "nothing can be made in dev", deny: `touch /dev/made || mknod /dev/sda b 8 0`, allow: `touch /dev/shm/made`, noControl: "it would litter /dev"},
	compat(pair{req: "LNX-04", name: "private places are not hidden by the root", deny: `touch /etc/made || touch /usr/made || touch /made`, allow: `touch /tmp/a /var/tmp/a /dev/shm/a && [ "$(cat /proc/self/comm)" = cat ] && touch "$WS/a"`, noControl: "it would litter the host"}),
	{req: "LNX-10", name: "the init shows no environment, memory or program", deny: `cat /proc/1/environ | grep -a . || head -c1 /proc/1/mem || readlink /proc/1/exe`, allow: `cat /proc/self/environ | grep -qa PATH=`, noControl: "the host's process 1 is another one"},
	{req: "LNX-10", name: "the init's program cannot be changed", deny: `chmod 4711 /proc/1/exe || echo x > /proc/1/exe`, allow: `true`, noControl: "it would change the host's init"},
	{req: "LNX-11", name: "our init is process 1", deny: `[ "$(cat /proc/1/comm)" = bash ] || [ $$ = 1 ]`, allow: `[ "$(cut -d' ' -f4 /proc/$$/stat)" = 1 ]`, noControl: "the host has its own process 1"},
	{req: "LNX-01", name: "a session of its own", allow: `[ "$(cut -d' ' -f6 /proc/$$/stat)" = $$ ]`},
}

// variables: VAR-01 to VAR-04.
var variables = []pair{
	{req: "VAR-01", name: "variables of the host do not pass", deny: `env | grep ` + Secret, allow: `[ -n "$PATH" ] && [ -n "$HOME" ]`, policy: Policy{}, noControl: "none keeps the safe list as well"},
	{req: "VAR-01", name: "a variable that the policy names passes", policy: Policy{Pass: []string{"HOST_SECRET"}}, allow: `[ "$HOST_SECRET" = ` + Secret + ` ]`},
	{req: "VAR-01", name: "a variable that the policy sets is there", policy: Policy{Set: map[string]string{"A": "b c\n'\"d"}}, allow: `[ "$A" = "b c"$'\n'"'\"d" ]`},
	{req: "VAR-02", name: "loader hooks need the policy's word", policy: Policy{Set: map[string]string{"LD_PRELOAD": "/x.so", "BASH_ENV": "/x", "NODE_OPTIONS": "--x"}}, deny: `env | grep -E '^(LD_PRELOAD|BASH_ENV|NODE_OPTIONS)='`, allow: `true`, noControl: "none drops them as well"},
	{req: "VAR-02", name: "a named hook passes", policy: Policy{Set: map[string]string{"NODE_OPTIONS": "--x"}, Hooks: []string{"NODE_OPTIONS"}}, allow: `[ "$NODE_OPTIONS" = --x ]`},
	{req: "VAR-03", name: "no secret in any process's environment", deny: `cat /proc/*/environ 2>/dev/null | grep -qa "` + Secret[:6] + `""` + Secret[6:] + `"`, allow: `true`},
	{req: "VAR-03", name: "no secret in any process's arguments", deny: `cat /proc/[0-9]*/cmdline 2>/dev/null | grep -qa "[A]RG-` + Secret[:6] + `""` + Secret[6:] + `"`, allow: `true`},
	{req: "VAR-04", name: "caches are private and kept", allow: `for v in XDG_CACHE_HOME npm_config_cache PIP_CACHE_DIR CARGO_HOME GOCACHE GOMODCACHE; do d=${!v}; mkdir -p "$d" && touch "$d/x" || exit 1; case $d in "$HOME"/.cache/qsandbox/*) ;; *) echo "$v=$d"; exit 1;; esac; done`},
	{req: "VAR-04", name: "caches of other workspaces are not there", setup: `mkdir -p "$HOME/.cache/qsandbox/other-$U"; echo x > "$HOME/.cache/qsandbox/other-$U/x"`, deny: `cat "$HOME/.cache/qsandbox/other-$U/x"`, allow: `touch "$XDG_CACHE_HOME/x"`, after: `rm -r "$HOME/.cache/qsandbox/other-$U"`},
	{req: "VAR-04", name: "the home directory keeps its name", policy: Policy{}, allow: `[ "$HOME" = "$EXPECT_HOME" ]`},
}
