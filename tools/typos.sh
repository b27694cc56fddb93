# Notices mistyped arguments of tools/bench before anything is installed or built: what a shell script can know of them.
# vkgemm itself checks them all, with better messages, once it is built. Source it after lib.sh; it defines functions only.
# shellcheck shell=bash disable=SC2154  # root comes from lib.sh

# typo TEXT WORD: ends the script. TEXT states what is wrong; standard input has the words that are known.
typo() {
    local near
    near=$(nearest "$2" 3)
    [[ -z $near ]] || near="; did you mean '$near'?"
    die "$1$near (tools/bench --help)"
}
# is_known WORD WORDS...
is_known() { local word=$1; shift; [[ " $* " == *" $word "* ]]; }

# The options of `vkgemm bench`, and those of them that take a value, from its committed completions.
bench_options() { sed -nE 's/^ *bench\) words="([^"]*)".*/\1/p' "$root/tools/pages/vkgemm.bash"; }
bench_values() { grep -oE '\<bench:--[a-z-]+' "$root/tools/pages/vkgemm.bash" | sed 's/^bench://' | tr '\n' ' '; }
# The names that --suite and --kernel know, the latter without their tiles.
suite_names() {
    sed -n '/^set(suite_files/,/)/p' "$root/tools/CMakeLists.txt" | sed 's/^set(suite_files//; s/).*//' | tr ' ' '\n' |
        awk 'NF && ++n % 2'
}
module_names() {
    grep -rhoE '^MODULE\( *[a-z0-9_]+' --include='*.def' "$root/shaders" "$root/native" | sed 's/.*( *//'
}

# check_device NAME: drivers of the SDK are known by name. Another name is part of a GPU's, which this system must have.
check_device() {
    local words='lavapipe swiftshader swiftshader:native llvmpipe' near
    if [[ -z $1 || $1 =~ ^[0-9]+$ ]] || is_known "$1" "$words"; then return 0; fi
    near=$(tr ' ' '\n' <<<"$words" | nearest "$1" 2)
    [[ -z $near ]] || die "no device '$1'; did you mean '$near'?"
    if [[ -n ${VULKAN_SDK:-} ]] || has_gpu; then return 0; fi
    local shown='lavapipe llvmpipe (llvm, bits) mesa' # of the names and drivers of a system without a GPU
    [[ $shown != *"${1,,}"* ]] || return 0
    die "no device '$1': this system has no GPU with a Vulkan driver; known without one: lavapipe, swiftshader"
}
check_suite() {
    local names
    names=$(suite_names)
    [[ -z $1 || -f $1 ]] || is_known "$1" "${names//$'\n'/ }" ||
        typo "no suite and no file '$1'; the suites: ${names//$'\n'/ }" "$1" <<<"$names"
}
check_kernels() {
    local name module
    for name in ${1//,/ }; do
        ! is_known "$name" all auto shaders || continue
        for module in $(module_names); do [[ $name != "$module"_* ]] || continue 2; done
        # The tile is left out of the comparison.
        typo "no kernel '$name': none begins so" "$(sed -E 's/_[0-9]+x[0-9x]+.*//' <<<"$name")" < <(module_names)
    done
}
check_baselines() {
    local name
    for name in ${1//,/ }; do
        is_known "$name" cublas openblas ||
            typo "--vs takes cublas and openblas, not '$name'" "$name" <<<$'cublas\nopenblas'
    done
}
# check_problem TEXT: a problem has its sizes in it.
check_problem() {
    [[ ! $1 =~ [0-9]x[0-9] ]] || return 0
    ! is_known "$1" "$(suite_names | tr '\n' ' ')" || die "'$1' is a suite; give it as --suite $1"
    die "'$1' is no problem: it has no sizes, such as 1024x1024x512 (tools/bench --help)"
}

# refuse_typos ARGUMENT...: of tools/bench.
refuse_typos() {
    local options values option value
    options=$(bench_options) values="$(bench_values) --device --color"
    while (($#)); do
        option=${1%%=*} value=${1#*=}
        case $1 in
        -h) ;;
        -*)
            is_known "$option" "$options" || typo "unknown option '$option'" "$option" < <(tr ' ' '\n' <<<"$options")
            if is_known "$option" "$values" && [[ $1 != *=* ]]; then
                (($# > 1)) || die "$option needs a value (tools/bench --help)"
                shift
                value=$1
            fi
            case $option in
            --device) check_device "$value" ;;
            --suite) check_suite "$value" ;;
            --kernel) check_kernels "$value" ;;
            --vs) check_baselines "$value" ;;
            --from) [[ -f $value ]] || die "no file '$value' for --from" ;;
            esac
            ;;
        *) check_problem "$1" ;;
        esac
        shift
    done
}
