#!/usr/bin/env bash
# usage: window.sh DIR PROGRAM [ARGUMENTS...]
#
# Runs examples/neural_texture in a window on a virtual display (Xvfb) with a window manager (twm): it is resized,
# minimised, shown again and closed by Escape, and the test waits until each has been noticed. The display's contents are kept in
# DIR as XWD pictures. The exit code is 0 if all went well.
set -euo pipefail
dir=$1; shift
log=$dir/window.log
rm -rf "$dir"; mkdir -p "$dir"
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT

mkfifo "$dir/number"
Xvfb -displayfd 3 -screen 0 800x600x24 -nolisten tcp -fbdir "$dir" 3>"$dir/number" 2>"$dir/xvfb.log" &
read -rt 20 number <"$dir/number"
export DISPLAY=:$number
printf '%s\n' RandomPlacement NoTitle IconifyByUnmapping {Title,Menu,Icon,Resize,IconManager}'Font "fixed"' >"$dir/twmrc"
twm -f "$dir/twmrc" >"$dir/twm.log" 2>&1 &

"$@" --window >"$log" 2>&1 &
program=$!
die() { printf 'window.sh: %s; the output so far:\n' "$*"; tail -n 20 "$log"; exit 1; }
# waits PATTERN: until the program prints a new line that matches.
waits() {
    local from=$(($(wc -l <"$log") + 1))
    for ((i = 0; i < 900; ++i)); do
        if tail -n "+$from" "$log" | grep -qE "$1"; then return; fi
        kill -0 $program 2>/dev/null || {
            die "the program ended before it printed '$1'"
        }
        sleep 0.1
    done
    die "no line with '$1' within 90 s"
}
# now_drawn SIZE: until two lines later it draws that size; the frames that were under way have been shown then.
now_drawn() { waits " [1-9][0-9]* pixels of $1;"; waits " [1-9][0-9]* pixels of $1;"; }
# colours FILE: how many different colours there are on the display, which is kept as FILE.
colours() {
    cp "$dir/Xvfb_screen0" "$dir/$1"
    tail -c +3200 "$dir/$1" | od -An -v -tx4 -w4 | sort -u | wc -l
}
shows() { local n; n=$(colours "$1"); ((n > 2000)) || die "$1 has $n colours, which is no picture of a texture"; }

now_drawn 320x180
shows first.xwd
window=$(xdotool search --name '^neural texture$' | tail -n1)
xdotool windowsize "$window" 480 300
now_drawn 480x300
shows resized.xwd
xdotool windowminimize "$window"
waits ' 0 pixels of'; waits ' 0 pixels of'
n=$(colours minimised.xwd)
((n < 2000)) || die "the window is still there: $n colours"
xdotool windowmap "$window"
now_drawn 480x300
shows again.xwd
# Pressed alone: the window may be gone before the key is let go.
xdotool keydown --window "$window" Escape
for ((i = 0; i < 300; ++i)); do kill -0 $program 2>/dev/null || break; sleep 0.1; done
kill -0 $program 2>/dev/null && die "the program goes on after Escape"
wait $program || die "the program's exit code is $?"
grep -q '^PSNR of the texture' "$log" || die "no result was printed"
