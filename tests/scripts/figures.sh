#!/usr/bin/env bash
# usage: tests/scripts/figures.sh
#
# Fails if a page of docs states a time, a rate or a "N instead of M" that is not, even rounded, in the notes of the
# same topic: docs/ggml.md draws from notes/ggml.md, from notes/ggml-*.md and from those to which notes/ggml.md links.
# Code is not read.
set -euo pipefail
cd "$(dirname "$0")/../.."

unit='(µs|ms|s|GFLOP/s|TFLOP/s|TOP/s|GB/s|TB/s)'
number='[0-9][0-9,]*(\.[0-9]+)?'
numbers() { grep -oE "$number" | tr -d , || true; }

stale=0 pages=0
for page in docs/*.md; do
    name=$(basename "$page" .md)
    [[ -e notes/$name.md ]] || continue
    notes=("notes/$name.md")
    for file in "notes/$name"-*.md; do [[ ! -e $file ]] || notes+=("$file"); done
    while read -r file; do notes+=("notes/$file"); done < <(grep -oE '\]\([a-z0-9-]+\.md' "notes/$name.md" | cut -c3-)
    ((++pages))
    known=$(cat "${notes[@]}" | numbers | awk '{ printf "%s\n%.0f\n", $1, $1 }' | sort -u)
    stated=$(awk '/^ *```/ { code = !code } !code && !/^ *```/' "$page" | tr '\n' ' ' |
        { grep -oE "$number $unit([^[:alnum:]]|\$)|instead of $number" || true; } | numbers | sort -u)
    for figure in $(comm -23 <(echo "$stated") <(echo "$known")); do
        echo "$page: $figure is not in ${notes[*]}"
        stale=1
    done
done
((pages >= 3)) || { echo "only $pages pages of docs have notes of their topic" >&2; exit 1; }
exit $stale
