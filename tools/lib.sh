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

# nearest WORD [EDITS]: prints the line of standard input that is the fewest edits away from WORD; nothing if even that one
# is more than EDITS away.
nearest() {
    awk -v a="$1" -v most="${2:-999}" 'function min(x, y) {return x < y ? x : y}
        {n = length(a); m = length($0)
         for (i = 0; i <= n; i++) for (j = 0; j <= m; j++)
             d[i, j] = i == 0 ? j : j == 0 ? i : min(min(d[i - 1, j], d[i, j - 1]) + 1,
                 d[i - 1, j - 1] + (substr(a, i, 1) != substr($0, j, 1)))
         if (NR == 1 || d[n, m] < best) {best = d[n, m]; name = $0}}
        END {if (NR && best <= most) print name}'
}

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

# build PART [TARGET...]: builds the targets (all by default). PART is what they belong to: `tool`, `cpu_tool`, which has
# the kernels that a CPU driver's defaults are, `blas`, or `all`, which has the adapter for ggml, the examples and the
# tests too.
build() {
    local begun logged ninja_log=$root/build/.ninja_log
    configure "$1"
    shift
    begun=$SECONDS logged=$(wc -l 2>/dev/null <"$ninja_log" || echo 0)
    step "building ${*:-everything} in build/"
    NINJA_STATUS='[%f/%t, %es] ' ninja -C "$root/build" "$@" >&2 || die "building failed; the reason is above"
    step "built in $((SECONDS - begun)) s$(tail -n "+$((logged + 1))" "$ninja_log" | shares $((SECONDS - begun)))"
}

# shares SECONDS: how many of these went to what, from the lines that ninja has logged, which overlap.
shares() {
    awk -F '\t' -v all="$1" '/^#/ || seen[$1, $2, $5]++ {next}
        {kind = $4 ~ /\.(spv|packed|inc)$/ ? "shaders" : $4 ~ /\.(o|gch)$/ ? "C++" : "the rest"
         n[kind] += $2 - $1; sum += $2 - $1}
        END {if (sum) printf ": shaders %.0f s, C++ %.0f s, the rest %.0f s", all * n["shaders"] / sum,
            all * n["C++"] / sum, all * n["the rest"] / sum}'
}

# configure PART: configures build/ if it is new, was for another SDK, or was without that part. A build folder that
# someone configured by hand keeps its options. build/configured-for has one line for the SDK and one for the parts.
configure() {
    local families='naive;tiled;vec4;block;simt;cpu;cpu_packed;gemv;gemv_blocks'
    local sdk=${VULKAN_SDK:-$root/.sdk} for had='' parts='' options=() option begun=$SECONDS
    for="$sdk $(cat "$sdk/stamp" 2>/dev/null || true)"
    { IFS= read -r had && IFS= read -r parts; } 2>/dev/null <"$root/build/configured-for" || true
    if [[ -e $root/build/build.ninja && $had == "$for" && " $parts " == *" $1 "* ]]; then return; fi
    need_disk "$root" 1000 "building"
    step "configuring build/ (Release)"
    if [[ -e $root/build/build.ninja && ! -e $root/build/configured-for ]]; then
        parts='tool cpu_tool blas all'
    else
        [[ $parts && $had == "$for" ]] || options+=(--fresh)
        case $1 in
        all) parts='tool cpu_tool blas all' ;;
        tool) parts+=' tool cpu_tool' ;;
        *) [[ " $parts " == *" $1 "* ]] || parts+=" $1" ;;
        esac
        # Files are compiled several at a time, which takes half of the processor's time.
        options+=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON "-DVKGEMM_BLAS=$(has_word blas "$parts")")
        [[ ${VKGEMM_WERROR:-} ]] && options+=(-DVKGEMM_WERROR=ON)
        # A tool for CPU drivers alone goes without the kernels for matrix units, which are half of the shaders' time.
        [[ $parts == ' cpu_tool' ]] || families=
        options+=("-DVKGEMM_FAMILIES=$families")
        for option in COVER GGML EXAMPLES TESTS; do
            options+=("-DVKGEMM_$option=$(has_word all "$parts")")
        done
    fi
    cmake -S "$root" -B "$root/build" -G Ninja "${options[@]}" >&2 || die "configuring failed; the reason is above"
    printf '%s\n' "$for" "$parts" >"$root/build/configured-for"
    step "configured in $((SECONDS - begun)) s"
}
# has_word WORD TEXT: ON or OFF.
has_word() { if [[ " $2 " == *" $1 "* ]]; then echo ON; else echo OFF; fi; }

# count_tests FILE: prints "N passed, N failed, N skipped" for the JUnit results that ctest wrote; nothing where it wrote
# none, for example because it only listed tests. Counted as skipped: what the suite disabled, too.
count_tests() {
    [[ -e $1 ]] || return 0
    awk -F '"' '/<testcase /{exit}
        $1 ~ /^[ \t]*(tests|failures|disabled|skipped)=$/ {sub(/^[ \t]*/, "", $1); n[$1] = $2}
        END {printf "%d passed, %d failed, %d skipped\n", n["tests="] - n["failures="] - n["disabled="] - n["skipped="],
            n["failures="], n["disabled="] + n["skipped="]}' "$1"
}
