// SPDX-License-Identifier: MIT
// What ir3, the compiler of Turnip, writes: flags in parentheses come before an instruction, of which (rptN) issues it
// N times more. A line "l951:" is a label.
//
//     l951:
//     (ss)(rpt1)mad.f32 r18.z, r23.y, (r)r6.x, (r)(last)r18.z
//     ldl.u32 r23.y, l[r21.z], 4
//     (ss)br p0.x, #l951
#include <algorithm>

#include "assembly/program.h"

namespace vkgemm::tool {
namespace ir3 {
namespace {

using std::string_view;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Bytes of an element by the type of a load: ".u32", ".f16", ".u8".
double element_bytes(string_view op) {
    if (op.ends_with("16")) return 2;
    return op.ends_with("8") ? 1 : 4;
}

// The number of elements of a load or store is its last operand, or that of the letters of "(xyzw)".
double elements_of(string_view operands) {
    if (const size_t mask = operands.find("(x"); mask != std::string_view::npos) {
        const std::string_view letters = operands.substr(mask + 1, 4);
        return static_cast<double>(std::min(letters.find(')'), letters.size()));
    }
    const size_t comma = operands.rfind(", ");
    const bool has = comma != std::string_view::npos && comma + 2 < operands.size() && is_digit(operands[comma + 2]);
    return has ? operands[comma + 2] - '0' : 1;
}

Instruction instruction_of(string_view op, string_view operands) {
    Instruction x{.op = std::string(op)};
    const string_view name = op.substr(0, op.find('.'));
    if (is_one_of(name, {"ldl", "stl", "ldlw", "stlw"}))
        x.unit = Unit::shared;
    else if (is_one_of(name, {"ldp", "stp"}))
        x.unit = Unit::scratch;
    else if (is_one_of(name, {"ldg", "stg", "ldib", "stib", "isam", "sam", "ldc"}))
        x.unit = Unit::memory;
    else if (is_one_of(name, {"nop", "bar", "fence", "sleep"}))
        x.unit = Unit::wait;
    else if (is_one_of(name, {"br", "jump", "end", "shps", "shpe", "getone", "predt", "predf", "prede", "brac"}))
        x.unit = Unit::scalar;
    if (x.unit == Unit::shared || x.unit == Unit::scratch || x.unit == Unit::memory)
        x.bytes = element_bytes(op) * elements_of(operands);
    x.multiply_adds = name == "mad" ? 1 : name == "dp4acc" ? 4 : name == "dp2acc" ? 2 : 0;
    x.packed = std::max(x.multiply_adds, 1.0);
    if (x.multiply_adds > 0) x.unit = Unit::multiply_add;
    return x;
}

void read_line(Listing& out, string_view line) {
    double repeats = 1;
    while (line.starts_with("(")) {
        const string_view flag = line.substr(1, line.find(')') - 1);
        if (flag.starts_with("rpt") && flag.size() == 4 && is_digit(flag[3])) repeats = flag[3] - '0' + 1;
        line.remove_prefix(std::min(line.find(')'), line.size() - 1) + 1);
    }
    if (line.starts_with("l") && line.size() > 2 && line.ends_with(":") && is_digit(line[1]))
        return out.label(line.substr(0, line.size() - 1));
    const string_view whole = line, op = take_word(line);
    if (op.empty() || op.starts_with(";") || op.starts_with("@") || !(op[0] >= 'a' && op[0] <= 'z')) return;
    if (const size_t label = whole.find("#l"); label != string_view::npos) out.jump(whole.substr(label + 1));
    out.add(instruction_of(op, line)).repeats = repeats;
}

}  // namespace
}  // namespace ir3

Program read_ir3(std::string_view text) { return read_lines(text, ir3::read_line); }

}  // namespace vkgemm::tool
