#!/usr/bin/env bash
# usage: tests/scripts/links.sh [FOLDER]
#
# Fails if a page of the checkout links to a file that does not exist, or to a heading that the page has not. Links to
# other hosts are not followed. Anchors are those that GitHub makes of headings.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

# The pages of the project, without what builds and the SDK hold.
pages() { find . -name '*.md' -not -path './build*' -not -path './.sdk*' -not -path './.git/*' | sort; }

found=$(mktemp)
trap 'rm -f "$found"' EXIT
# "PAGE<tab>anchor<tab>NAME" for each heading and each <a name=...>, "PAGE<tab>link<tab>TARGET<tab>LINE" for each link.
# shellcheck disable=SC2016  # code in backticks
pages | tr '\n' '\0' | LC_ALL=C xargs -0 awk '
FNR == 1 { code = 0; split("", seen) }
/^ *```/ { code = !code; next }
code { next }
/^#+ / {
    name = $0
    sub(/^#+ +/, "", name)
    gsub(/\]\([^)]*\)/, "", name)  # of a link its text remains
    name = tolower(name)
    gsub(/[^a-z0-9 _-]/, "", name)
    gsub(/ /, "-", name)
    print FILENAME "\tanchor\t" name (seen[name]++ ? "-" seen[name] - 1 : "")
}
{
    line = $0
    while (match(line, /<a (id|name)="[^"]*"/)) {
        name = substr(line, RSTART, RLENGTH)
        sub(/^[^"]*"/, "", name)
        sub(/".*/, "", name)
        print FILENAME "\tanchor\t" name
        line = substr(line, RSTART + RLENGTH)
    }
    line = $0
    gsub(/`[^`]*`/, "", line)  # code in a line
    while (match(line, /\]\([^) ]+\)/)) {
        print FILENAME "\tlink\t" substr(line, RSTART + 2, RLENGTH - 3) "\t" FNR
        line = substr(line, RSTART + RLENGTH)
    }
}' >"$found"

failed=0 count=0
declare -A anchors=()
while IFS=$'\t' read -r page kind name _; do
    [[ $kind != anchor ]] || anchors[$page#$name]=1
done <"$found"
while IFS=$'\t' read -r page kind target line; do
    [[ $kind == link && ! $target =~ ^[a-z]+: ]] || continue
    ((++count))
    file=${target%%#*}
    if [[ $file ]]; then
        file=$(realpath -m --relative-to=. "${page%/*}/$file")
        [[ -e $file ]] || { echo "$page:$line: $target does not exist"; failed=1; continue; }
        file=./$file
    else
        file=$page
    fi
    [[ $target != *#* || $file != *.md || ${anchors[$file#${target#*#}]:-} ]] ||
        { echo "$page:$line: $file has no heading for #${target#*#}"; failed=1; }
done <"$found"
((count)) || { echo "no page has a link: the search is wrong"; failed=1; }
exit $failed
