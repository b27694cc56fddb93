// SPDX-License-Identifier: MIT
// What NAK, the compiler of NVK, writes: a block begins with its number and label, an instruction may have a predicate
// and results.
//
//     block.u 11 L15 [10, 19] -> {
//           r0..4    = hmma.m16n8k16.f32 r40..44 r16..18 r0..4            // delay=15 wr:0
//     @!p0             bra pT L49                                         // delay=1 wt=000001
#include "assembly/program.h"

namespace vkgemm::tool {
namespace nak {
namespace {

using std::string_view;

double bytes_of(string_view op) {
    return number_in(op,
                     {{".b128", 16},
                      {".b64", 8},
                      {".b16", 2},
                      {".u16", 2},
                      {".i16", 2},
                      {".u8", 1},
                      {".i8", 1},
                      {".b8", 1},
                      {".m8n8.x4", 16},
                      {".x4", 16},
                      {".x2", 8}},
                     4);
}

double multiply_adds_of(string_view name) {
    if (name == "ffma" || name == "dfma") return 1;
    return name == "hfma2" ? 2 : name == "idp4" ? 4 : 0;
}

Instruction instruction_of(string_view op) {
    Instruction x{.op = std::string(op)};
    const string_view name = op.substr(0, op.find('.'));
    if (is_one_of(name, {"hmma", "imma"})) {
        x.unit = Unit::matrix;
        x.multiply_adds = shape_in(op);
    } else if (is_one_of(name, {"ld", "st", "ldsm", "atom"})) {
        const bool shared = name == "ldsm" || op.find(".shared") != std::string_view::npos;
        x.unit = shared ? Unit::shared : op.find(".local") != std::string_view::npos ? Unit::scratch : Unit::memory;
        x.bytes = bytes_of(op);
    } else if (is_one_of(name, {"bar", "nop", "bsync", "bssy", "warpsync", "membar", "depbar", "yield"})) {
        x.unit = Unit::wait;
    } else if (is_one_of(name, {"bra", "exit", "ldc", "ldcu", "bclear"})) {
        x.unit = Unit::scalar;
    } else if (const double products = multiply_adds_of(name); products > 0) {
        x.unit = Unit::multiply_add;
        x.multiply_adds = x.packed = products;
    }
    return x;
}

// What is left of an instruction without its predicate and its results.
string_view without_results(string_view line) {
    if (const size_t equals = line.find(" = "); equals != std::string_view::npos) return line.substr(equals + 3);
    if (line.starts_with("@")) take_word(line);
    return line;
}

// A result in a uniform register: the scalar unit computes it.
bool is_uniform(string_view line) {
    if (line.starts_with("@")) take_word(line);
    const string_view first = take_word(line);
    return first.starts_with("ur") || first.starts_with("up");
}

void read_line(Listing& out, string_view line) {
    line = line.substr(0, line.find("//"));
    string_view rest = line;
    const string_view first = take_word(rest);
    if (first.starts_with("block")) {
        take_word(rest);
        return out.label(take_word(rest));
    }
    if (first.empty() || first.starts_with("}") || first.starts_with(";")) return;
    string_view operands = without_results(line);
    const string_view op = take_word(operands);
    if (op == "bra") {
        string_view label = take_word(operands);  // or a predicate before it
        if (!label.starts_with("L")) label = take_word(operands);
        out.jump(label);
    }
    Unit& unit = out.add(instruction_of(op)).unit;
    if (unit <= Unit::vector && is_uniform(line)) unit = Unit::scalar;
}

}  // namespace
}  // namespace nak

Program read_nak(std::string_view text) { return read_lines(text, nak::read_line); }

}  // namespace vkgemm::tool
