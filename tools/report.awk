# Prints one table of the documentation from the CSV files of a device, which `tools/measure report` wrote:
#   awk -v block=devices -v folder=h200 -v first=1 -v rows=tools/report.rows -f tools/report.awk FILE.csv...
#
# A line is "problem",library,kernel,"tile",checked,"error",clock,cold,runs,median,min,max,p95,tflops,...: only the quoted
# fields hold commas. Of a problem the first row of vkgemm is the default choice, and the last that is not native the
# choice of shaders alone.
FNR == 1 {
    suite = FILENAME
    sub(/.*\//, "", suite)
    sub(/\.csv$/, "", suite)
    suites[++suite_count] = suite
    has[suite] = 1
}
/^# / {
    key = $2
    value = $0
    sub(/^# [^ ]* /, "", value)
    if (key == "vkgemm:" && version != "" && version != value)
        fail(FILENAME " is of vkgemm " value ", other files of this device of " version "; measure them together")
    if (key == "vkgemm:") version = value
    if (key == "device:") device = value
    if (key == "baseline:") baseline = value
    if (key == "date:") date = value > date ? value : date
    next
}
suite == "choice" {
    if (split($0, cell, ",") == 5 && cell[1] != "type") choice[++choice_count] = $0
    next
}
/^problem,/ {
    count = split($0, name, ",")
    delete at
    for (i = 1; i <= count; ++i) at[name[i]] = i - 5  # counted after the last quoted field
    next
}
{
    split($0, quoted, "\"")
    split(quoted[3], word, ",")
    split(quoted[7], number, ",")
    problem = quoted[2]
    seconds = number[at["median_s"]] + 0
    if (!((suite, problem) in known)) {
        known[suite, problem] = 1
        problems[suite, ++problem_count[suite]] = problem
    }
    if (seconds <= 0) next
    id = suite SUBSEP problem
    tflops = number[at["tflops"]] + 0
    row = number[at["in_a_row_tflops"]] + 0
    native = "native" in at && number[at["native"]] + 0
    if (word[2] != "vkgemm") {
        its_rate[id] = tflops
        its_row[id] = row
        its_time[id] = seconds
        next
    }
    if (!(id in our_rate)) {
        our_rate[id] = tflops
        our_row[id] = row
        our_time[id] = seconds
        our_kernel[id] = word[3]
        our_native[id] = native
    }
    if (!native) {
        shader_rate[id] = tflops
        shader_row[id] = row
        shader_time[id] = seconds
    }
    if (suite == "ladder") {
        rung[++rungs] = word[3]
        rung_time[rungs] = seconds
        rung_rate[rungs] = tflops
    }
}
# The sentence of the README. It must stay below 100 columns a line.
function speed_sentence(    id) {
    id = "h200" SUBSEP "f16*f16+f32->f16 4096x4096x4096"
    if (!(our_native[id] && its_rate[id] > 0)) fail("h200.csv has no native kernel, or no other library, for f16 4096x4096x4096")
    print "On an " name_of_device ", vkgemm multiplies f16 matrices of 4096³ at " rate(shader_rate[id]) " TFLOP/s with"
    print "portable shaders and at " rate(our_rate[id]) " TFLOP/s with its optional [native kernels](docs/native.md) for"
    print "Hopper; " its_name " reaches " rate(its_rate[id]) " TFLOP/s in the same run ([all figures](docs/benchmarks.md))."
}
function fail(why) {
    print "report: " why > "/dev/stderr"
    failed = 1
    exit 1
}
# Three digits.
function rate(x) {
    return x <= 0 ? "–" : sprintf(x < 0.995 ? "%.3f" : x < 9.995 ? "%.2f" : x < 99.95 ? "%.1f" : "%.0f", x)
}
function time(s) {
    s *= 1e6
    if (s < 999.5) return sprintf(s < 9.995 ? "%.2f µs" : s < 99.95 ? "%.1f µs" : "%.0f µs", s)
    return sprintf(s < 9995 ? "%.2f ms" : "%.1f ms", s / 1e3)
}
function over(a, b) { return a > 0 && b > 0 ? sprintf("%.2f", a / b) : "–" }
# A problem in the words of a table: 4096³ for 4096x4096x4096, and no types that follow from others.
function short(problem,   n, part, i, size, text) {
    n = split(problem, part, " ")
    sub(/^f16\*f16\+f16->f16$/, "f16 with sums in f16", part[1])
    sub(/\+[a-z0-9]*->[a-z0-9]*$/, "", part[1])
    split(part[1], size, "*")
    if (size[1] == size[2]) part[1] = size[1]
    gsub(/\*/, "·", part[1])
    split(part[2], size, "x")
    text = part[1] " " (size[1] == size[2] && size[2] == size[3] ? size[1] "³" : size[1] "×" size[2] "×" size[3])
    for (i = 3; i <= n; ++i) {
        if (part[i] ~ /^(accuracy|groups|upto|per_row)=/) continue
        sub(/^layout=/, ", ", part[i])
        sub(/^packed_b=any$/, ", B packed", part[i])
        sub(/^batch=/, " × ", part[i])
        text = text (part[i] ~ /^[, ]/ ? "" : ", ") part[i]
    }
    return text
}
# Beside the other library, over a suite: sets mean, worst, worst_problem and counted. Of GLSL alone if `shaders`.
function compare(s, shaders,   i, id, ratio, sum) {
    sum = counted = 0
    worst = 1e9
    for (i = 1; i <= problem_count[s]; ++i) {
        id = s SUBSEP problems[s, i]
        if (!(its_rate[id] > 0)) continue
        ratio = (shaders ? shader_rate[id] : our_rate[id]) / its_rate[id]
        if (!(ratio > 0)) continue
        sum += log(ratio)
        ++counted
        if (ratio < worst) {
            worst = ratio
            worst_problem = problems[s, i]
        }
    }
    mean = counted ? exp(sum / counted) : 0
}
function suites_table(   i, n, s, order, line, all) {
    print "| suite | problems | default choice | worst | GLSL alone | worst |"
    print "| --- | --- | --- | --- | --- | --- |"
    n = split("h200 models f32_split sweep runtime others cpu", order, " ")
    for (i = 1; i <= n; ++i) {
        s = order[i]
        compare(s, 0)
        if (!counted) continue
        line = sprintf("| [%s](results/%s/%s.csv) | %d | %.2f | %.2f, %s |", s, folder, s, counted, mean, worst,
            short(worst_problem))
        all = counted
        compare(s, 1)
        if (counted == all) line = line sprintf(" %.2f | %.2f, %s |", mean, worst, short(worst_problem))
        else line = line " – | – |"
        print line
    }
}
# The rows of report.rows that are of this table and of suites that were measured. A problem that its suite lacks is an
# error. With `limits` the label is what limits the product.
function rows_table(name, limits,   line, part, heading, titled, id, label) {
    while ((getline line < rows) > 0) {
        if (line ~ /^= /) {
            split(substr(line, 3), part, ": ")
            heading = part[1] == name ? part[2] : ""
            titled = 0
        }
        if (!heading || line ~ /^(#|=|$)/) continue
        part[3] = ""
        split(line, part, / +[|] /)
        if (!has[part[1]]) continue
        id = part[1] SUBSEP part[2]
        if (!(id in known)) fail(part[1] ".csv lacks " part[2])
        if (!(our_time[id] > 0)) continue
        if (!titled++ && limits) {
            print "| problem | alone | in a row | " its_name " | " heading " |"
            print "| --- | --- | --- | --- | --- |"
        } else if (titled == 1) {
            print "\n| " heading " | time | TFLOP/s | GLSL | " its_name " | ratio | in a row |"
            print "| --- | --- | --- | --- | --- | --- | --- |"
        }
        label = limits || part[3] == "" ? short(part[2]) : part[3]
        if (limits)
            print "| " label " | " rate(shader_rate[id]) " | " rate(shader_row[id]) " | " rate(its_rate[id]) \
                " | " part[3] " |"
        else
            print "| " label " | " time(our_time[id]) " | " rate(our_rate[id]) " | " \
                (our_native[id] ? rate(shader_rate[id]) : "the same") " | " rate(its_rate[id]) " | " \
                over(our_rate[id], its_rate[id]) " | " over(our_row[id], its_row[id]) " |"
    }
    close(rows)
}
function ladder_table(   i) {
    if (!rungs) return
    print "\n| f32 4096³ by kernel after kernel | time | TFLOP/s | gain |\n| --- | --- | --- | --- |"
    for (i = 1; i <= rungs; ++i)
        print "| `" rung[i] "` | " time(rung_time[i]) " | " rate(rung_rate[i]) " | " \
            (i > 1 ? sprintf("%.2f×", rung_time[i - 1] / rung_time[i]) : "–") " |"
}
function choice_table(   i, cell, line) {
    if (!choice_count) return
    line[1] = "| lost by the choice |"
    line[2] = "| --- |"
    line[3] = "| geometric mean |"
    line[4] = "| worst twentieth |"
    for (i = 1; i <= choice_count; ++i) {
        split(choice[i], cell, ",")
        line[1] = line[1] " " cell[1] ", " cell[2] " |"
        line[2] = line[2] " --- |"
        line[3] = line[3] " " cell[3] " % |"
        line[4] = line[4] " " cell[4] " % |"
    }
    print ""
    for (i = 1; i <= 4; ++i) print line[i]
}
# Native kernels beside shaders and beside the other library.
function native_table(   i, j, n, s, id, order, its, glsl, its_count, glsl_count, count) {
    print "| suite | problems with a native kernel | beside GLSL | beside " its_name " |\n| --- | --- | --- | --- |"
    n = split("h200 models f32_split runtime others sweep", order, " ")
    for (i = 1; i <= n; ++i) {
        s = order[i]
        its = glsl = its_count = glsl_count = count = 0
        for (j = 1; j <= problem_count[s]; ++j) {
            id = s SUBSEP problems[s, j]
            if (!our_native[id]) continue
            ++count
            if (shader_time[id] > 0) {
                glsl += log(shader_time[id] / our_time[id])
                ++glsl_count
            }
            if (its_time[id] > 0) {
                its += log(its_time[id] / our_time[id])
                ++its_count
            }
        }
        if (count)
            print "| " s " | " count " of " problem_count[s] " | " \
                (glsl_count ? over(exp(glsl / glsl_count), 1) : "–") " | " (its_count ? over(exp(its / its_count), 1) : "–") " |"
    }
}
END {
    if (failed) exit 1
    its_name = baseline
    sub(/ .*/, "", its_name)
    name_of_device = driver = device
    sub(/ \[.*/, "", name_of_device)
    sub(/^[^[]*\[/, "", driver)
    sub(/\], /, ", ", driver)
    if (block == "devices") {
        print (first ? "" : "\n") "## " name_of_device "\n"
        print "vkgemm " version "; " driver ";\n" baseline "; " date ".\n"
        suites_table()
        if (first) rows_table("listed")
        rows_table("cpu")
        if (first) ladder_table()
        if (first) choice_table()
    } else if (block == "speed") speed_sentence()
    else if (block == "alone") rows_table("alone", 1)
    else if (block == "native") native_table()
    else fail("no table " block)
}
