# Functions that the scripts in this folder share. Sourcing it defines names and runs nothing else.
# Every message goes to stderr, one line per step with the seconds since the start. die ends the script with code 1.
# shellcheck shell=bash disable=SC2034  # the names are used by the scripts that source this file

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=${0##*/}

step() { printf '[%3ds] %s\n' "$SECONDS" "$*" >&2; }
die() { printf '%s: %s\n' "$me" "$*" >&2; exit 1; }

# usage: prints the comment at the top of the calling script, which is its help text.
usage() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p;}' "$0"; }

# at_least HAVE WANT: succeeds if version HAVE is WANT or newer, compared number by number ("2025.2", "1.4.313").
at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n1) == "$2" ]]; }

# need_disk DIR MIB WHAT: ends the script if the disk of DIR has less than MIB free, which WHAT needs.
need_disk() {
    local free
    free=$(df -Pm "$1" | awk 'NR == 2 {print $4}')
    ((free >= $2)) || die "$3 needs $2 MiB of disk below $1 and $free MiB are free; make room and run this again"
}

# system_drivers: prints the json files of the Vulkan drivers that a program finds on this system, one per line.
system_drivers() {
    local asked=${VK_DRIVER_FILES:-${VK_ICD_FILENAMES:-}}
    if [[ -n $asked ]]; then
        tr : '\n' <<<"$asked"
    else
        tr : '\n' <<<"/etc:/usr/local/share:/usr/share:${XDG_DATA_DIRS:-}" | sed '/./s#$#/vulkan/icd.d#;/^$/d' |
            xargs -d '\n' -I{} find -L {} -name '*.json' 2>/dev/null | sort -u || true
    fi
}

# keep_inside: keeps temporary files and drivers' caches below build/, so that none reach the home folder.
keep_inside() {
    mkdir -p "$root/build/tmp" 2>/dev/null || die "cannot write to $root/build; check its owner and the free disk"
    export TMPDIR=$root/build/tmp XDG_CACHE_HOME=$root/build/cache
    export __GL_SHADER_DISK_CACHE_PATH=$root/build/cache CCACHE_DIR=$root/build/cache/ccache
}

# build [TARGET...]: builds the targets (all by default). Configures build/ first if it is new or was for another SDK.
build() {
    local sdk=${VULKAN_SDK:-$root/.sdk} for fresh=(--fresh)
    for="$sdk $(cat "$sdk/stamp" 2>/dev/null || true)"
    if [[ ! -e $root/build/build.ninja || $(cat "$root/build/configured-for" 2>/dev/null) != "$for" ]]; then
        need_disk "$root" 1000 "building"
        step "configuring build/ (Release)"
        # A build folder that someone configured by hand keeps its options.
        if [[ -e $root/build/build.ninja && ! -e $root/build/configured-for ]]; then fresh=(); fi
        cmake "${fresh[@]}" -S "$root" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release >&2 ||
            die "configuring failed; the reason is above"
        echo "$for" >"$root/build/configured-for"
    fi
    step "building ${*:-everything} in build/"
    NINJA_STATUS='[%f/%t, %es] ' ninja -C "$root/build" "$@" >&2 || die "building failed; the reason is above"
}

# count_tests FILE: prints "N passed, N failed, N skipped" for the JUnit results that ctest wrote; nothing where it wrote
# none, for example because it only listed tests. Counted as skipped: what the suite disabled, too.
count_tests() {
    [[ -e $1 ]] || return 0
    awk -F '"' '/<testcase /{exit}
        $1 ~ /^[ \t]*(tests|failures|disabled|skipped)=$/ {sub(/^[ \t]*/, "", $1); n[$1] = $2}
        END {printf "%d passed, %d failed, %d skipped\n", n["tests="] - n["failures="] - n["disabled="] - n["skipped="],
            n["failures="], n["disabled="] + n["skipped="]}' "$1"
}
