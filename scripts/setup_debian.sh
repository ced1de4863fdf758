# Part of scripts/setup: installing Debian packages, and fetching some without installing them.

missing_packages() {
  local installed
  installed=" $(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | awk '$1 == "installed" {print $2}' |
    tr '\n' ' ') "
  local name
  for name in "$@"; do
    [[ $installed == *" $name "* ]] || printf '%s\n' "$name"
  done
}

apt_install() {
  command -v apt-get >/dev/null || fail "this is not a Debian system; install by hand: $*"
  [ -z "$(missing_packages "$@")" ] || locked install_missing "$@"
}

install_missing() {
  local names
  names=$(missing_packages "$@")
  [ -n "$names" ] || return 0
  say "installing" $names
  quietly apt-update as_root apt-get update
  quietly apt-install as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $names
}

codename() { (. /etc/os-release && echo "${VERSION_CODENAME:-}"); }

# apt with lists of its own, on the mirror this machine already uses: private_apt KIND SUITE COMMAND...
# KIND is deb, deb-src, or deb:CPU for packages of another kind of machine.
private_apt() {
  local kind=${1%:*} cpu=${1#*:} suite=$2 state=$cache/apt/${1/:/-}-$2 codename mirror
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  shift 2
  [ "$cpu" != "$kind" ] || cpu=$(dpkg --print-architecture)
  codename=$(codename)
  mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
    awk -v codename="$codename" '$1 == codename {print $2; exit}')
  [ -n "$mirror" ] || fail "apt has no mirror configured for '$codename'"
  local options=(
    -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$state/lists" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root
    -o "APT::Architecture=$cpu" -o "APT::Architectures::=$cpu")
  if [ ! -e "$state/ready" ]; then
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    if [ -e "$keyring" ]; then keyring=" [signed-by=$keyring]"; else keyring=; fi
    printf '%s%s %s %s main\n' "$kind" "$keyring" "$mirror" "$suite" >"$state/sources.list"
    quietly "apt-$kind-$suite-$cpu" apt-get "${options[@]}" update
    touch "$state/ready"
  fi
  apt-get "${options[@]}" "$@"
}
