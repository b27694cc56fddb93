// SPDX-License-Identifier: MIT
// What nvdisasm makes of NVIDIA's machine code: the address of an instruction is a comment before it, and a jump names
// the address, or a label, to which it goes.
//
//     .L_x_3:
//             /*0a30*/                   HMMA.16816.F32 R4, R12, R20, R4 ;
//             /*0a40*/              @!P0 BRA 0x7c0 ;
//             /*0a50*/               @P1 BRA `(.L_x_3) ;
#include <algorithm>

#include "assembly/program.h"

namespace vkgemm::tool {
namespace sass {
namespace {

using std::string_view;

// Bytes of an invocation: "LDS.128", "LDG.E.U16", "LDSM.16.M88.4".
double bytes_of(string_view op) {
    return number_in(op,
                     {{".128", 16},
                      {".64", 8},
                      {".U16", 2},
                      {".S16", 2},
                      {".U8", 1},
                      {".S8", 1},
                      {".M88.4", 16},
                      {".M88.2", 8},
                      {".MT88.4", 16},
                      {".MT88.2", 8}},
                     4);
}

// "16816": m16n8k16, whose products are those of a subgroup.
double shape_of(string_view op) {
    return number_in(op,
                     {{".16832", 16 * 8 * 32},
                      {".16816", 16 * 8 * 16},
                      {".1688", 16 * 8 * 8},
                      {".8816", 8 * 8 * 16},
                      {".884", 8 * 8 * 4}},
                     0);
}

double multiply_adds_of(string_view name) {
    if (name == "FFMA" || name == "DFMA") return 1;
    return name == "HFMA2" ? 2 : name == "IDP" ? 4 : 0;
}

Instruction instruction_of(string_view op) {
    Instruction x{.op = std::string(op)};
    const string_view name = op.substr(0, op.find('.'));
    if (is_one_of(name, {"HMMA", "IMMA", "DMMA"})) {
        x.unit = Unit::matrix;
        x.multiply_adds = shape_of(op);
    } else if (is_one_of(name, {"LDS", "LDSM", "STS", "ATOMS"})) {
        x.unit = Unit::shared;
    } else if (is_one_of(name, {"LDL", "STL"})) {
        x.unit = Unit::scratch;
    } else if (is_one_of(name, {"LDG", "STG", "LD", "ST", "ATOM", "ATOMG", "RED"})) {
        x.unit = Unit::memory;
    } else if (is_one_of(name, {"BAR", "NOP", "BSSY", "BSYNC", "WARPSYNC", "MEMBAR", "DEPBAR", "LDGDEPBAR", "YIELD",
                                "ERRBAR", "NANOSLEEP", "CCTL"})) {
        x.unit = Unit::wait;
    } else if (is_one_of(name, {"BRA", "EXIT", "LDC", "LDCU", "BREAK", "CALL", "RET", "S2UR", "R2UR"}) ||
               name.starts_with("U")) {
        x.unit = Unit::scalar;  // or the uniform registers
    } else if (const double products = multiply_adds_of(name); products > 0) {
        x.unit = Unit::multiply_add;
        x.multiply_adds = x.packed = products;
    }
    if (x.unit == Unit::shared || x.unit == Unit::scratch || x.unit == Unit::memory) x.bytes = bytes_of(op);
    return x;
}

// "00a40" is "a40": addresses are written with different numbers of zeros.
string_view without_zeros(string_view digits) {
    return digits.substr(std::min(digits.find_first_not_of('0'), std::max<size_t>(digits.size(), 1) - 1));
}

// "0x7c0" or "`(.L_x_3)", which may come after a predicate.
string_view target_of(string_view operands) {
    for (string_view word = take_word(operands); !word.empty(); word = take_word(operands)) {
        if (word.starts_with("0x")) return without_zeros(word.substr(2, word.find(';') - 2));
        if (word.starts_with("`(")) return word.substr(2, word.find(')') - 2);
    }
    return {};
}

void read_line(Listing& out, string_view line) {
    const string_view word = take_word(line);
    if (word.starts_with(".L") && word.ends_with(":")) return out.label(word.substr(0, word.size() - 1));
    if (!word.starts_with("/*") || !word.ends_with("*/") || word.size() < 5) return;
    out.label(without_zeros(word.substr(2, word.size() - 4)));
    string_view op = take_word(line);
    if (op.starts_with("@")) op = take_word(line);
    op = op.substr(0, op.find(';'));
    if (op.empty() || op.starts_with("/*")) return;
    if (op == "BRA" || op.starts_with("BRA.")) out.jump(target_of(line));
    out.add(instruction_of(op));
}

}  // namespace
}  // namespace sass

Program read_sass(std::string_view text) { return read_lines(text, sass::read_line); }

}  // namespace vkgemm::tool
