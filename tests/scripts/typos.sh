#!/usr/bin/env bash
# usage: typos.sh FOLDER
#
# Mistyped arguments of tools/bench are noticed before it installs or builds anything. FOLDER is emptied; it becomes the
# only place where programs are found, and it has neither a package tool nor cmake: whatever gets past the check ends
# with another message, in a copy of the tree that has no sources to build.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd) folder=$1
rm -rf "$folder"
mkdir -p "$folder"/{bin,tree/tools}
for program in bash env sed awk grep tr cut find sort head cat dirname readlink xargs mkdir df date; do
    ln -s "$(type -P $program)" "$folder/bin/"
done
cp -r "$root"/tools/{bench,lib.sh,apt.sh,typos.sh,with,sdk,pages,CMakeLists.txt} "$folder/tree/tools/"
(cd "$root" && find shaders native -name '*.def' -exec cp --parents {} "$folder/tree/" \;)

failed=0
# says PATTERN ARGUMENTS...: tools/bench ends with code 1 and a message that matches, and makes nothing.
says() {
    local pattern=$1 text code=0; shift
    text=$(cd "$folder/tree" && env -i PATH="$folder/bin" HOME="$folder" tools/bench "$@" 2>&1 </dev/null) || code=$?
    if ((code != 1)) || [[ ! $text =~ $pattern || -e $folder/tree/build ]]; then
        printf 'tools/bench %s: code %d, not 1 with "%s":\n%s\n' "$*" "$code" "$pattern" "$text"
        rm -rf "$folder/tree/build"
        failed=1
    fi
}
says "no device 'lavpipe'; did you mean 'lavapipe'" --device lavpipe
says "no device 'swiftshadr'; did you mean 'swiftshader'" --device=swiftshadr
says "no suite and no file 'clasic'.*did you mean 'classic'" --suite clasic
says "no kernel 'tild_f32_8x8'.*did you mean 'tiled_f32'" --kernel auto,tild_f32_8x8
says "not 'cublass'; did you mean 'cublas'" --vs cublass
says "unknown option '--sute'; did you mean '--suite'" --sute h200
says "'h200' is a suite; give it as --suite h200" h200
says "--suite needs a value" --suite
# What is right gets past it.
right() {
    local text
    text=$(cd "$folder/tree" && env -i PATH="$folder/bin" HOME="$folder" tools/bench "$@" 2>&1 </dev/null) || true
    rm -rf "$folder/tree/build"
    [[ $text == *"missing: "* ]] || { printf 'tools/bench %s was refused:\n%s\n' "$*" "$text"; failed=1; }
}
right
right --device llvmpipe --suite=h200 --kernel all --csv -
right --device 0 'f16*f16 64x64x64 bias=col' --kernel simt_f16_64x64x16 --repeats 20
exit $failed
