package e2e

import (
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
)

func TestMakeInParallel(t *testing.T) {
	job{needs: []string{"make", "gcc"}, modes: all, setup: `
for i in $(seq 12); do echo "int f$i(void) { return $i; }" > f$i.c; done
{ for i in $(seq 12); do echo "int f$i(void);"; done; echo 'int main(void) { return f12() != 12; }'; } > main.c
printf 'OBJ = $(patsubst %%.c,%%.o,$(wildcard *.c))\nprog: $(OBJ)\n\t$(CC) -o $@ $^\n' > Makefile`,
		script: `make -j4 >/dev/null; ./prog`, after: `./prog`}.run(t)
}

func TestGoBuildWithColdCache(t *testing.T) {
	usable(t, "go", "version")
	more := ""
	if backendtest.Long() {
		more = ` && go vet . && go test ./...`
	}
	job{needs: []string{"go"}, modes: slow(), setup: `
cat > go.mod <<'X'
module example.invalid/m
go 1.24
X
printf 'package main\nimport ("fmt"; "strings")\nfunc main() { fmt.Println(strings.ToUpper("ok")) }\n' > main.go
printf 'package main\nimport "testing"\nfunc TestX(t *testing.T) { t.TempDir() }\n' > main_test.go`,
		script: `go build -o prog . && [ "$(./prog)" = OK ]` + more, after: `[ "$(./prog)" = OK ]`}.run(t)
}

// TestGoModuleFromTheHostsCache builds with a dependency, the network off.
func TestGoModuleFromTheHostsCache(t *testing.T) {
	usable(t, "sh", "-c", `cd "$(go list -m -f '{{.Dir}}' golang.org/x/term)" && [ "$PWD" != "$OLDPWD" ]`)
	root := repoRoot(t)
	job{needs: []string{"go"}, modes: slow(), setup: `
cp "` + root + `/go.sum" .
cat > go.mod <<X
module example.invalid/m
go 1.25.0
require (
$(cd "` + root + `" && go list -m golang.org/x/term golang.org/x/sys)
)
X
printf 'package main\nimport "golang.org/x/term"\nfunc main() { println(term.IsTerminal(0)) }\n' > main.go`,
		script: `go build -mod=mod -o prog . && ./prog`}.run(t)
}

func TestCargoBuildWithColdCache(t *testing.T) {
	usable(t, "cargo", "--version")
	job{needs: []string{"cargo"}, modes: compat, setup: `
mkdir -p src dep/src
printf '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ndep = { path = "dep" }\n' > Cargo.toml
printf '[package]\nname = "dep"\nversion = "0.1.0"\nedition = "2021"\n' > dep/Cargo.toml
echo 'pub fn f() -> u32 { 42 }' > dep/src/lib.rs
printf 'fn main() { println!("{}", dep::f()); }\n#[test] fn t() { assert_eq!(dep::f(), 42); }\n' > src/main.rs`,
		script: `cargo build --offline -q && [ "$(target/debug/m)" = 42 ]`, after: `[ "$(target/debug/m)" = 42 ]`}.run(t)
}

func TestNpmInstallOfALocalTarball(t *testing.T) {
	usable(t, "npm", "--version")
	job{needs: []string{"npm", "node"}, modes: compat, setup: `
mkdir lib app; printf '{"name":"lib","version":"1.0.0","main":"i.js","scripts":{"postinstall":"node -e 1"}}' > lib/package.json
echo 'module.exports = 42' > lib/i.js; (cd lib && npm pack --silent --cache "$T/npm" >/dev/null && mv lib-1.0.0.tgz ..)
printf '{"name":"app","version":"1.0.0"}' > app/package.json`,
		script: `cd app && npm install --offline --no-audit --no-fund --silent ../lib-1.0.0.tgz && [ "$(node -p 'require("lib")')" = 42 ]`,
		after:  `[ -e app/node_modules/lib/i.js ]`}.run(t)
}

func TestNode(t *testing.T) {
	job{needs: []string{"node"}, modes: all, script: `node -e '
const { Worker } = require("worker_threads"), fs = require("fs"), cp = require("child_process"), http = require("http");
fs.writeFileSync("f", "x"); if (cp.execSync("cat f").toString() !== "x") process.exit(1);
new WebAssembly.Memory({ initial: 10, maximum: 1000 });
const s = http.createServer((q, r) => r.end("ok")).listen(0, "127.0.0.1", () =>
  http.get({ host: "127.0.0.1", port: s.address().port }, (r) => { r.on("data", (d) => { if (d.toString() !== "ok") process.exit(2); s.close(); }); }));
const w = new Worker("require(\"worker_threads\").parentPort.postMessage(7)", { eval: true });
w.on("message", (m) => { if (m !== 7) process.exit(3); });'`}.run(t)
}

func TestJava(t *testing.T) {
	usable(t, "javac", "-version")
	job{needs: []string{"java", "javac"}, modes: all, setup: `
printf 'public class A { public static void main(String[] a) throws Exception { Thread t = new Thread(() -> System.out.println("ok")); t.start(); t.join(); java.io.File.createTempFile("a", "b"); } }' > A.java`,
		script: `javac A.java && [ "$(java -Xmx64m A)" = ok ]`}.run(t)
}

func TestMavenOffline(t *testing.T) {
	usable(t, "mvn", "--version")
	job{needs: []string{"mvn"}, modes: compat, setup: `
printf '<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version><packaging>pom</packaging></project>' > pom.xml`,
		script: `mvn -q -o validate`}.run(t)
}
