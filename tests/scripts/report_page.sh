#!/usr/bin/env bash
# usage: tests/scripts/report_page.sh FOLDER BROWSER PROGRAM [ARGUMENTS...]
#
# Opens the page that `PROGRAM ... report --html` writes in a browser without a window, light and dark. Fails if a script
# of the page fails, a table is not sorted by a click on its title, something is wider than the page, the colours are
# those of the other scheme, or the page asks for another file. The pictures stay in FOLDER.
set -euo pipefail
folder=$1 browser=$2
shift 2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
"$@" report --budget 4 --html page.html --quiet >report.out

# What a reader does, and what is seen then, as an attribute of the page.
cat >probe.html <<'END'
<script>
addEventListener("load", () => {
const wrong = [];
const check = (kept, what) => { if (!kept) wrong.push(what); };
const table = document.querySelector("table.sorted"), titles = [...table.tHead.rows[0].cells];
const rate = titles.findIndex(title => title.textContent === "rate");
const rates = () => [...table.tBodies[0].rows].map(row => +row.cells[rate].dataset.v);
check(table.tBodies[0].rows.length >= 3, "the first table has three products");
titles[rate].click();
check(rates().every((r, i, all) => i === 0 || all[i - 1] <= r), "a click sorts");
titles[rate].dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
check(rates().every((r, i, all) => i === 0 || all[i - 1] >= r), "Enter sorts in the other direction");
check(titles[rate].getAttribute("aria-sort") === "descending", "the title shows the direction");
check(document.documentElement.scrollWidth <= innerWidth, "nothing is wider than the page");
check(!document.querySelector("[src], link, object, base"), "no other file is asked for");
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const color = getComputedStyle(document.body).backgroundColor.match(/\d+/g).reduce((sum, x) => sum + +x, 0);
check(dark ? color < 200 : color > 600, "the background is that of the scheme");
document.documentElement.dataset.probe = (dark ? "dark" : "light") + (wrong.length ? ": " + wrong.join("; ") : ", sound");
});
</script>
END
sed '/^<\/body>$/,$d' page.html >probed.html
cat probe.html >>probed.html

# A sandbox needs privileges that a container may not have; the page is our own.
run_browser() { timeout 120 "$browser" --no-sandbox --disable-gpu --user-data-dir="$folder/profile" "$@" 2>>browser.err; }
for scheme in light dark; do
    setting=$([[ $scheme == dark ]] && echo 0 || echo 1)
    for width in 1200 420; do
        options=(--blink-settings="preferredColorScheme=$setting" --window-size="$width,1600")
        run_browser "${options[@]}" --dump-dom "file://$folder/probed.html" >dom.html
        grep -q "data-probe=\"$scheme, sound\"" dom.html || {
            printf '%s, %s pixels: %s\n' "$scheme" "$width" "$(grep -o 'data-probe="[^"]*"' dom.html || tail -n 5 browser.err)"
            exit 1
        }
        run_browser "${options[@]}" --screenshot="$folder/$scheme-$width.png" "file://$folder/page.html" >/dev/null
        [[ -s $scheme-$width.png ]]
    done
done
printf 'sorted, light and dark, 1200 and 420 pixels wide\n'
