#!/usr/bin/env bash
# usage: window.sh DIR PROGRAM [ARGUMENTS...]
#
# Runs examples/neural_texture in a window on a virtual display (Xvfb) with a window manager (twm): it is resized,
# minimised, shown again and closed by Escape, and the test waits until each has been noticed, however long that takes:
# ctest ends a test that never ends. The display's contents are kept in DIR as XWD pictures. The exit code is 0 if all
# went well.
set -euo pipefail
dir=$1; shift
log=$dir/window.log
rm -rf "$dir"; mkdir -p "$dir"
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT

mkfifo "$dir/number"
Xvfb -displayfd 3 -screen 0 800x600x24 -nolisten tcp -fbdir "$dir" 3>"$dir/number" 2>"$dir/xvfb.log" &
read -r number <"$dir/number"
export DISPLAY=:$number
printf '%s\n' RandomPlacement NoTitle IconifyByUnmapping {Title,Menu,Icon,Resize,IconManager}'Font "fixed"' >"$dir/twmrc"
twm -f "$dir/twmrc" >"$dir/twm.log" 2>&1 &

"$@" --window >"$log" 2>&1 &
program=$!
die() { printf 'window.sh: %s; the output so far:\n' "$*"; tail -n 20 "$log"; exit 1; }
lines() { wc -l <"$log"; }
# printed PATTERN FROM: succeeds if the program has printed a line that matches, from line FROM on.
printed() {
    if tail -n "+$2" "$log" | grep -qE "$1"; then return; fi
    kill -0 $program 2>/dev/null || die "the program ended before it printed '$1'"
    return 1
}
# waits PATTERN: until the program prints a new line that matches.
waits() {
    local from=$(($(lines) + 1))
    until printed "$1" $from; do sleep 0.1; done
}
# now_drawn SIZE: until two lines later it draws that size; the frames that were under way have been shown then.
now_drawn() { waits " [1-9][0-9]* pixels of $1;"; waits " [1-9][0-9]* pixels of $1;"; }
# colours FILE: how many different colours there are on the display, which is kept as FILE.
colours() {
    cp "$dir/Xvfb_screen0" "$dir/$1"
    tail -c +3200 "$dir/$1" | od -An -v -tx4 -w4 | sort -u | wc -l
}
# A picture of a texture has thousands of colours. The display may take its time to show what was drawn.
shows() { until (($(colours "$1") > 2000)); do kill -0 $program || die "the program ended"; sleep 0.1; done; }
hides() { until (($(colours "$1") < 2000)); do kill -0 $program || die "the program ended"; sleep 0.1; done; }

now_drawn 320x180
shows first.xwd
window=$(xdotool search --name '^neural texture$' | tail -n1)
xdotool windowsize "$window" 480 300
now_drawn 480x300
shows resized.xwd
# This is a message to the window manager, which is lost if that one has not started yet.
from=$(($(lines) + 1))
until printed ' 0 pixels of' $from; do xdotool windowminimize "$window"; sleep 0.5; done
hides minimised.xwd
xdotool windowmap "$window"
now_drawn 480x300
shows again.xwd
# Pressed alone: the window may be gone before the key is let go.
xdotool keydown --window "$window" Escape
wait $program || die "the program's exit code is $?"
grep -q '^PSNR of the texture' "$log" || die "no result was printed"
