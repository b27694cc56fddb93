# Functions around Debian's package tool. Source it after lib.sh; it defines functions only.
# shellcheck shell=bash disable=SC2154  # root comes from lib.sh, VERSION_CODENAME from /etc/os-release

# need_tools COMMAND:PACKAGE...: installs the packages whose command is missing. A command that was installed by other
# means counts too. If nothing is missing, no package tool is started. COMMAND may also be the path of a file of the
# package.
need_tools() {
    local pair missing=() as=()
    has() { if [[ $1 == /* ]]; then [[ -e $1 ]]; else command -v "$1" >/dev/null; fi; }
    for pair; do
        has "${pair%%:*}" || missing+=("${pair#*:}")
    done
    ((${#missing[@]})) || return 0
    command -v apt-get >/dev/null ||
        die "missing: ${missing[*]} (Debian's package names). Install them with this system's package manager"
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null ||
            die "not root, no sudo without a password, and missing packages; run: sudo apt-get install ${missing[*]}"
        as=(sudo -n)
    fi
    need_disk / 1500 "installing ${missing[*]}"
    step "installing system packages: ${missing[*]}"
    local log=$root/build/packages.log apt=("${as[@]}" env -u TMPDIR DEBIAN_FRONTEND=noninteractive apt-get -q
        -oDpkg::Use-Pty=0 -oAPT::Keep-Downloaded-Packages=false -oAcquire::Retries=2 -oDPkg::Lock::Timeout=300)
    mkdir -p "$root/build"
    # The package lists may be missing (in a container) or stale, so they are fetched if the first try fails. An archive
    # that cannot be reached matters only if a package is missing afterwards.
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null 2>&1 | tee "$log" | apt_progress ||
        { "${apt[@]}" update; "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } </dev/null 2>&1 |
            tee "$log" | apt_progress ||
        die "could not install ${missing[*]}: $(apt_reason "$log"). Is there a network? The whole log: $log"
    hash -r
    for pair; do
        has "${pair%%:*}" || die "${pair#*:} is installed and has no ${pair%%:*}"
    done
}

# apt_progress: reads apt's output and prints one short line per package.
apt_progress() {
    awk '{gsub(/[][]/, "")}
         /^Get:/ && !/InRelease/ {printf "         fetched %s %s%s\n", $5, $(NF-1), $NF; fflush()}
         /^Setting up/ {printf "         set up %s\n", $3; fflush()}' >&2
}

# apt_reason LOG: prints the line of an apt log that gives the reason of a failure.
apt_reason() {
    { grep -E '^[EW]: Failed to fetch' "$1" || grep -E '^([EW]:|dpkg)' "$1" || echo "no reason given"; } |
        sed '1{s/^[EW]: //;q;}'
}

# old_headers DIR: unpacks the Vulkan headers of this release into DIR, without installing them. Fails, with a line that
# states why, where they cannot be fetched.
old_headers() {
    local log=$root/build/old-headers.log
    [[ ! -e $1/usr/include/vulkan/vulkan_core.h ]] || return 0
    step "fetching this release's own Vulkan headers (libvulkan-dev), for programs that use vkgemm"
    mkdir -p "$1"
    if (cd "$1" && env -u TMPDIR apt-get -q download libvulkan-dev && dpkg -x libvulkan-dev_*.deb .) >"$log" 2>&1; then
        return 0
    fi
    step "the headers could not be fetched: $(apt_reason "$log")"
    return 1
}

# private_apt DIR PACKAGE...: sets up an apt with its own lists and cache in DIR. It uses this system's mirror and
# Debian's keys, and treats only the named packages as installed. `suites` and `components` of
# the archive, if they are set, are used instead of testing, the system's own and main. Sets the array `apt`, and `aptdir`, and `suite`, which is the system's name for its own release.
private_apt() {
    local mirror key lists
    aptdir=$1; shift
    # Asked this way, apt answers also where it has no package lists, as in a container, and where others fetch them.
    read -r mirror suite < <(apt-get update --print-uris 2>/dev/null |
        sed -nE "s#^'(.*/)dists/([^/]*)/main/binary-amd64/.*#\1 \2#p" |
        awk -v own="$VERSION_CODENAME" '$2 == own || $2 ~ /^(old)*stable$|^testing$/ {print; exit}') ||
        die "apt on this system names no mirror for Debian $VERSION_CODENAME main; add one, or set VULKAN_SDK"
    for key in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do [[ -e $key ]] && break; done
    [[ -e $key ]] || die "no $key to verify Debian's archives with; install debian-archive-keyring"
    mkdir -p "$aptdir"/{state/lists/partial,cache/archives/partial}
    read -ra lists <<<"${suites:-testing $suite}"
    printf "deb [arch=amd64 signed-by=$key] $mirror %s ${components:-main}\n" "${lists[@]}" | sort -u >"$aptdir/list"
    printf 'Package: %s\nStatus: install ok installed\nVersion: 9:9\nArchitecture: amd64\nMulti-Arch: allowed\n\n' \
        "$@" >"$aptdir/status"
    cat >"$aptdir/conf" <<C
Dir::State "$aptdir/state"; Dir::State::status "$aptdir/status"; Dir::Cache "$aptdir/cache";
Dir::Etc::sourcelist "$aptdir/list"; Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
#clear APT::Update::Post-Invoke; #clear APT::Update::Post-Invoke-Success; #clear APT::Architectures;
APT::Architecture "amd64"; APT::Sandbox::User ""; APT::Default-Release ""; APT::Update::Error-Mode "any";
Acquire::Languages "none"; Acquire::PDiffs "false"; Acquire::Retries "2";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
C
    apt=(apt-get -c "$aptdir/conf" -q -y)
}

# fetch WHAT APT-ARGUMENTS...: runs the private apt. WHAT is printed as the step, and in the error message if it fails.
fetch() {
    local what=$1; shift
    step "$what"
    "${apt[@]}" "$@" </dev/null 2>&1 | tee "$aptdir/log" | apt_progress && return
    # Testing's lists are valid for a week. The lists of a mirror that lags more are still signed by Debian.
    if grep -q 'Release file .* is expired' "$aptdir/log"; then
        step "the mirror's lists are too old ($(grep -om1 'invalid since [^)]*' "$aptdir/log")); using them"
        apt+=(-oAcquire::Check-Valid-Until=false)
        "${apt[@]}" "$@" </dev/null 2>&1 | tee "$aptdir/log" | apt_progress && return
    fi
    die "$what: failed: $(apt_reason "$aptdir/log"). Is there a network?"
}
