#!/bin/sh
# Install pastchats-memory for your account alone, without root and without a Python of your own.
#
#     sh install.sh [--dry-run]        or: curl -fsSL ADDRESS/install.sh | sh
#
# It installs uv from https://astral.sh/uv if you have none, and then runs `uv tool install pastchats-memory`. uv keeps the program
# in its own folder (`uv tool dir`) and a link in ~/.local/bin. To undo it: pastchats-memory uninstall; uv tool uninstall pastchats-memory
# PASTCHATS_MEMORY_PACKAGE names another source, such as a wheel or a clone.
set -eu

# One function, called at the end: a download that broke off does nothing.
main() {
  package=${PASTCHATS_MEMORY_PACKAGE:-pastchats-memory}
  uv=$(command -v uv || true)
  test -n "$uv" || test ! -x "$HOME/.local/bin/uv" || uv=$HOME/.local/bin/uv

  echo 'This will:'
  test -n "$uv" || echo '  - install uv into ~/.local/bin, by its own script from https://astral.sh/uv/install.sh'
  echo "  - install $package by \`uv tool install\`, with a Python of its own if you have none that fits"
  echo 'It reads and changes nothing else. `pastchats-memory setup` asks before each step.'
  case ${1:-} in
    '') ;;
    --dry-run) exit 0 ;;
    *) echo "install.sh: unknown argument $1; use --dry-run or nothing" >&2; exit 2 ;;
  esac

  if test -z "$uv"; then
    script=$(mktemp)
    trap 'rm -f "$script"' EXIT
    if command -v curl >/dev/null; then
      curl --proto '=https' --tlsv1.2 -fsSL https://astral.sh/uv/install.sh -o "$script"
    elif command -v wget >/dev/null; then
      wget --https-only -qO "$script" https://astral.sh/uv/install.sh
    else
      echo 'install.sh: neither curl nor wget is there; install uv by hand: https://docs.astral.sh/uv/getting-started/installation' >&2
      exit 1
    fi
    UV_NO_MODIFY_PATH=1 sh "$script"
    uv=$HOME/.local/bin/uv
  fi

  "$uv" tool install --upgrade "$package"
  bin=$("$uv" tool dir --bin)
  case :$PATH: in
    *:"$bin":*) echo 'Next: pastchats-memory setup' ;;
    *) echo "Next: $bin/pastchats-memory setup   (or add $bin to your PATH: uv tool update-shell)" ;;
  esac
}

main "$@"
