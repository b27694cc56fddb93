# Made by 'vkgemm generate bash'; do not edit.
_vkgemm() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command= word words= files= lead=
    if [[ $current == '=' && $before == --* ]]; then  # --option=value is three words
        current=
    elif [[ $before == '=' && ${COMP_WORDS[COMP_CWORD-2]} == --* ]]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in devices|kernels|bench|ladder|tune|explain|inspect|cover|check|replay|report|help) command=$word; break ;; esac
    done
    case $command:$before in
    *:--color) words="auto always never" ;;
    *:--device) ;;
    devices:--json) files=1 ;;
    kernels:--json) files=1 ;;
    bench:--suite) words="$(vkgemm generate suites 2>/dev/null)" files=1 ;;
    bench:--layout) words="nn nt tn tt" ;;
    bench:--kernel) words="auto shaders all $(vkgemm generate kernels 2>/dev/null)" lead=${current%"${current##*,}"} ;;
    bench:--vs) words="cublas openblas" lead=${current%"${current##*,}"} ;;
    bench:--operands) words="buffers addresses descriptors" ;;
    bench:--native) words="auto off" ;;
    bench:--json) files=1 ;;
    bench:--csv) files=1 ;;
    bench:--plot) files=1 ;;
    bench:--draw) words="sizes networks" ;;
    bench:--from) files=1 ;;
    bench:--shape|bench:--type|bench:--tile|bench:--workspace|bench:--alignment|bench:--min-time|bench:--repeats|bench:--random|bench:--seed|bench:--max-flops|bench:--budget) ;;
    ladder:--type) words="f32 i32" ;;
    ladder:--json) files=1 ;;
    ladder:--plot) files=1 ;;
    ladder:--size|ladder:--shape) ;;
    tune:--suite) words="$(vkgemm generate suites 2>/dev/null)" files=1 ;;
    tune:--out) files=1 ;;
    tune:--operands) words="buffers addresses descriptors" ;;
    tune:--native) words="auto off" ;;
    tune:--budget|tune:--workspace|tune:--random|tune:--seed|tune:--type|tune:--max-flops) ;;
    explain:--kernel) words="$(vkgemm generate kernels 2>/dev/null)" ;;
    explain:--operands) words="buffers addresses descriptors" ;;
    explain:--native) words="auto off" ;;
    explain:--json) files=1 ;;
    explain:--tile|explain:--workspace|explain:--alignment) ;;
    inspect:--kernel) words="all native $(vkgemm generate kernels 2>/dev/null)" ;;
    inspect:--operands) words="buffers addresses descriptors" ;;
    inspect:--native) words="auto off" ;;
    inspect:--asm) files=1 ;;
    inspect:--json) files=1 ;;
    inspect:--tile|inspect:--workspace|inspect:--alignment|inspect:--architecture) ;;
    cover:--kernel) words="$(vkgemm generate kernels 2>/dev/null)" ;;
    cover:--plot) files=1 ;;
    cover:--tile) ;;
    check:--suite) words="$(vkgemm generate suites 2>/dev/null)" files=1 ;;
    check:--kernel) words="all auto $(vkgemm generate kernels 2>/dev/null)" ;;
    check:--operands) words="buffers addresses descriptors" ;;
    check:--native) words="auto off only" ;;
    check:--out) files=1 ;;
    check:--runs|check:--workspace|check:--alignment|check:--seed) ;;
    report:--html) files=1 ;;
    report:--out) files=1 ;;
    report:--check) files=1 ;;
    report:--budget|report:--repository) ;;
    *)
        case $command in
        '') words="devices kernels bench ladder tune explain inspect cover check replay report help --device --validate --quiet --color -h --help -V --version" ;;
        devices) words="--json --device --validate --quiet --color -h --help" ;;
        kernels) words="--all --json --device --validate --quiet --color -h --help" ;;
        bench) words="--suite --shape --type --layout --kernel --tile --vs --cold --hot --workspace --alignment --operands --native --min-time --repeats --no-check --json --csv --plot --random --seed --draw --max-flops --budget --from --device --validate --quiet --color -h --help" ;;
        ladder) words="--size --shape --type --json --plot --device --validate --quiet --color -h --help" ;;
        tune) words="--suite --budget --out --resume --workspace --operands --native --random --seed --type --max-flops --device --validate --quiet --color -h --help" ;;
        explain) words="--kernel --tile --workspace --alignment --operands --native --json --device --validate --quiet --color -h --help" files=1 ;;
        inspect) words="--kernel --tile --workspace --alignment --operands --native --asm --json --bound --architecture --device --validate --quiet --color -h --help" ;;
        cover) words="--kernel --tile --plot --device --validate --quiet --color -h --help" ;;
        check) words="--suite --kernel --runs --workspace --alignment --operands --native --seed --out --device --validate --quiet --color -h --help" ;;
        replay) words="--device --validate --quiet --color -h --help" files=1 ;;
        report) words="--html --out --budget --repository --check --device --validate --quiet --color -h --help" ;;
        help) words="-h --help devices kernels bench ladder tune explain inspect cover check replay report help" ;;
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -P "$lead" -- "${current#"$lead"}"))
    [[ -z $files ]] || COMPREPLY+=($(compgen -f -- "$current"))
}
complete -o filenames -F _vkgemm vkgemm
