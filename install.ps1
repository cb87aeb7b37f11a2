# Install pastchats-memory for your account alone, without administrator rights and without a Python of your own.
#
#     powershell -ExecutionPolicy Bypass -File install.ps1 [-DryRun]        or: irm ADDRESS/install.ps1 | iex
#
# It installs uv from https://astral.sh/uv if you have none, and then runs `uv tool install pastchats-memory`.
# To undo it: pastchats-memory uninstall; uv tool uninstall pastchats-memory
# $env:PASTCHATS_MEMORY_PACKAGE names another source, such as a wheel or a clone.
param([switch]$DryRun)
$ErrorActionPreference = 'Stop'

$package = if ($env:PASTCHATS_MEMORY_PACKAGE) { $env:PASTCHATS_MEMORY_PACKAGE } else { 'pastchats-memory' }
$own = Join-Path $HOME '.local\bin\uv.exe'
$uv = (Get-Command uv -ErrorAction SilentlyContinue).Source
if (-not $uv -and (Test-Path $own)) { $uv = $own }

Write-Output 'This will:'
if (-not $uv) { Write-Output '  - install uv into ~\.local\bin, by its own script from https://astral.sh/uv/install.ps1' }
Write-Output "  - install $package by ``uv tool install``, with a Python of its own if you have none that fits"
Write-Output 'It reads and changes nothing else. `pastchats-memory setup` asks before each step.'
if ($DryRun) { return }

if (-not $uv) {
  $env:UV_NO_MODIFY_PATH = '1'
  Invoke-RestMethod https://astral.sh/uv/install.ps1 | Invoke-Expression
  $uv = $own
}
& $uv tool install --upgrade $package
if ($LASTEXITCODE) { throw "uv ended with exit code $LASTEXITCODE." }
$bin = & $uv tool dir --bin
if (($env:PATH -split ';') -contains $bin) { Write-Output 'Next: pastchats-memory setup' }
else { Write-Output "Next: $bin\pastchats-memory setup   (or add $bin to your PATH: uv tool update-shell)" }
