# Part of scripts/setup: what programs for arm64 are linked with and find in the emulator.

# The root of a Debian for arm64, as far as programs of ours need one: the system's own apt and dpkg know nothing of it.
sysroot_arm64=$cache/arm64-$(echo "$(codename) $libraries_arm64" | short_hash)
# The processor that cpuinfo_arm64 describes. With "max", which has SME, the runtime's dynamic products come out wrong in
# qemu 7.2.
emulator_arm64="qemu-aarch64 -cpu cortex-a76 -L $sysroot_arm64"

fetch_sysroot_arm64() {
  [ ! -e "$sysroot_arm64/.complete" ] || return 0
  say "fetching libraries for arm64"
  local archives=$cache/apt/sysroot-arm64 status=$cache/apt/sysroot-arm64.status package
  rm -rf "$archives" "$sysroot_arm64" && mkdir -p "$archives/partial" "$sysroot_arm64/packages"
  # Its headers come with the cross compiler.
  printf '%s\n' 'Package: libc6-dev' 'Status: install ok installed' 'Architecture: arm64' 'Multi-Arch: same' \
    "Version: $(dpkg-query -W -f '${Version}' libc6)" 'Description: C library' '' >"$status"
  private_apt deb:arm64 "$(codename)" -o "Dir::State::status=$status" -o "Dir::Cache::archives=$archives" \
    install -y --no-install-recommends --download-only libc6 $libraries_arm64 >"$log/sysroot-arm64.log" 2>&1 ||
    fail "cannot download libraries for arm64 (log: $log/sysroot-arm64.log)"
  # Which file is whose: scripts/package takes each library's licence along.
  for package in "$archives"/*.deb; do
    dpkg -x "$package" "$sysroot_arm64"
    dpkg-deb -c "$package" >"$sysroot_arm64/packages/$(dpkg-deb -f "$package" Package).list"
  done
  touch "$sysroot_arm64/.complete"
}

# As many Cortex-A76 as there are processors. qemu would show those of the machine it runs on, and ONNX Runtime crashes
# where it reads of one that is no ARM.
cpuinfo_arm64() {
  local number
  for ((number = 0; number < $(nproc --all); ++number)); do
    printf '%s\t: %s\n' processor "$number" BogoMIPS 100.00 \
      Features 'fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp' \
      'CPU implementer' 0x41 'CPU architecture' 8 'CPU variant' 0x4 'CPU part' 0xd0b 'CPU revision' 1
    echo
  done
}
