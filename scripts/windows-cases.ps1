# The seed's Windows cases with real programs. Each denial has an allow twin and a
# control without the sandbox; a skip is said, and is no pass. Not verified here.
param([Parameter(Mandatory)] [string] $Helper, [string] $Out = "out/windows-cases.json")
$ErrorActionPreference = "Stop"
$Helper = (Resolve-Path $Helper).Path
$base = Join-Path $env:SystemDrive ("\qsandbox-cases-" + [guid]::NewGuid().ToString("n").Substring(0, 8))
$ws = "$base\ws"; $other = "$base\other"; $records = "$base\records"
New-Item -ItemType Directory -Force $ws, "$ws\.git", $other | Out-Null
$results = @()

function Add-Case([string] $id, [string] $status, [string] $notes) {
    $script:results += [ordered]@{ platform = "windows/amd64"; backend = "windows-sandbox"; case_id = $id; status = $status; notes = $notes }
    Write-Host ("{0,-8} {1,-12} {2}" -f $id, $status, $notes)
}

function Invoke-Helper([string[]] $options, [string[]] $command, [string] $policy = $null, [string] $mode = "workspace-write", [string] $cwd = $ws, [string] $sub = "run") {
    if (-not $policy) { $policy = @{ type = "workspace-write"; writable_roots = @($ws); sandbox_mode = "compat" } | ConvertTo-Json -Compress }
    $info = New-Object System.Diagnostics.ProcessStartInfo $Helper
    foreach ($a in @($sub, "--mode", $mode, "--cwd", $cwd, "--home", $records, "--policy-json", $policy) + $options + @("--") + $command) { $info.ArgumentList.Add($a) }
    $info.RedirectStandardOutput = $true; $info.RedirectStandardError = $true
    $p = [System.Diagnostics.Process]::Start($info)
    $text = $p.StandardOutput.ReadToEndAsync(); $errors = $p.StandardError.ReadToEndAsync(); $p.WaitForExit()
    $r = @{ code = $p.ExitCode; out = $text.Result; err = $errors.Result; json = $null }
    if ($sub -eq "run") { $r.json = $r.out | ConvertFrom-Json }
    return $r
}

# A write of cmd.exe, and whether it left its file.
function Test-Write([string] $id, [string] $path, [bool] $allowed, [string[]] $options = @(), [string] $policy = $null, [string] $mode = "workspace-write") {
    cmd /c "echo x> `"$path`""; $control = Test-Path $path; Remove-Item -Force -ErrorAction Ignore $path
    if (-not $control) { return Add-Case $id "invalid" "the control cannot write $path either" }
    $r = Invoke-Helper $options @("cmd", "/c", "echo x>`"$path`"") $policy $mode
    $wrote = Test-Path $path; Remove-Item -Force -ErrorAction Ignore $path
    Add-Case $id $(if ($wrote -eq $allowed) { "pass" } else { "fail" }) "wrote $path`: $wrote (code $($r.code), $($r.json.error.code))"
}

try {
    $strict = @{ type = "workspace-write"; writable_roots = @($ws, $other); sandbox_mode = "strict" } | ConvertTo-Json -Compress
    Test-Write "WN-01" "$ws\a.txt" $true @() $strict
    Test-Write "WN-01b" "$other\a.txt" $false @() $strict
    Test-Write "WN-02" "$other\b.txt" $false
    $r = Invoke-Helper @() @("cmd", "/c", "exit 0") $null "workspace-write" $other
    Add-Case "WN-02b" $(if ($r.json.error.code -eq "PATH_OUTSIDE_WORKSPACE") { "pass" } else { "fail" }) "cwd outside: $($r.json.error.code)"
    Test-Write "WN-03" "$ws\c.txt" $false @() '{"type":"read-only"}' "read-only"
    Test-Write "WN-07" "$ws\.git\index.lock" $false
    New-Item -ItemType Junction "$ws\junction" -Target $other | Out-Null
    Test-Write "WN-02c" "$ws\junction\d.txt" $false
    (Get-Item "$ws\junction").Delete()
    # A hook that the user moves in from the workspace keeps the list that it had there.
    $null = Invoke-Helper @() @("cmd", "/c", "echo x>hook.txt")
    New-Item -ItemType Directory -Force "$ws\.git\hooks" | Out-Null
    Move-Item "$ws\hook.txt" "$ws\.git\hooks\pre-commit"
    $null = Invoke-Helper @() @("cmd", "/c", "echo planted>.git\hooks\pre-commit")
    $planted = (Get-Content -Raw "$ws\.git\hooks\pre-commit") -match "planted"
    Add-Case "WN-07b" $(if ($planted) { "fail" } else { "pass" }) "a hook that was moved in can be written: $planted"
    $r = Invoke-Helper @() @("cmd", "/c", "echo x>NUL && echo read<NUL")
    Add-Case "NUL" $(if ($r.code -eq 0) { "pass" } else { "fail" }) "the null device: $($r.code) $($r.json.stderr)"
    # What starts at the next sign-in: a key of the user's own, made for this and removed.
    $key = "HKCU\Software\qsandbox-cases"
    cmd /c "reg add $key /v control /d 1 /f >nul 2>nul"; $control = $LASTEXITCODE
    $r = Invoke-Helper @() @("reg", "add", $key, "/v", "planted", "/d", "1", "/f")
    cmd /c "reg query $key /v planted >nul 2>nul"; $planted = $LASTEXITCODE -eq 0
    cmd /c "reg delete $key /f >nul 2>nul"
    Add-Case "REG" $(if ($control -ne 0) { "invalid" } elseif ($planted) { "fail" } else { "pass" }) "the registry can be written: $planted"
    foreach ($sub in "run", "serve") {
        $r = Invoke-Helper @("--write-restricted") @("cmd", "/c", "echo one | findstr one") $null "workspace-write" $ws $sub
        Add-Case "WN-05 $sub" $(if ($r.code -eq 0 -and $r.out -match "one") { "pass" } else { "fail" }) "a pipe between grandchildren: $($r.code)"
    }
    $env:ANTHROPIC_API_KEY = "leak_test"
    $r = Invoke-Helper @() @("cmd", "/c", "set")
    Add-Case "ENV-03" $(if ($r.json.stdout -notmatch "leak_test") { "pass" } else { "fail" }) "the key does not pass"

    # The network is only discouraged: a socket of the program's own shows it.
    $listener = [System.Net.Sockets.TcpListener]::new([System.Net.IPAddress]::Loopback, 0); $listener.Start()
    $port = $listener.LocalEndpoint.Port
    $r = Invoke-Helper @() @("powershell", "-NoProfile", "-Command", "(New-Object Net.Sockets.TcpClient).Connect('127.0.0.1', $port); 'connected'")
    $listener.Stop()
    Add-Case "WN-06" $(if ($r.json.stdout -match "connected") { "known-limit" } else { "pass" }) "level advisory: a raw socket $(if ($r.json.stdout -match 'connected') { 'connects' } else { 'does not connect' })"

    foreach ($program in @(@("powershell", "-NoProfile", "-Command", "Set-Content ps.txt 1; Get-Content ps.txt"), @("node", "-e", "require('fs').writeFileSync('n.txt','1');console.log(1)"),
            @("git", "--version"), @("C:\Program Files\Git\bin\bash.exe", "-c", "echo 1"))) {
        if (-not (Get-Command $program[0] -ErrorAction Ignore)) { Add-Case "RUN" "skip" "$($program[0]) is not installed"; continue }
        $r = Invoke-Helper @() $program
        Add-Case "RUN" $(if ($r.code -eq 0) { "pass" } else { "fail" }) "$($program[0]): $($r.code) $($r.json.stderr)"
    }

    $list = & $Helper acl list --home $records | ConvertFrom-Json
    & $Helper acl revoke --all --home $records | Out-Null
    $left = (icacls $base /t /c | Select-String "S-1-5-21-").Count
    Add-Case "WN-09" $(if ($list.entries.Count -gt 0 -and $left -eq 0) { "pass" } else { "fail" }) "$($list.entries.Count) entries, $left left after revoke"
} finally {
    New-Item -ItemType Directory -Force (Split-Path $Out) | Out-Null
    $results | ConvertTo-Json | Set-Content $Out
    Remove-Item -Recurse -Force -ErrorAction Ignore $base
}
if ($results | Where-Object { $_.status -in "fail", "invalid" }) { exit 1 }
