// SPDX-License-Identifier: MIT
// What ACO, the compiler of RADV, writes: "BB3:" begins a block, and an instruction is a line that begins with a tab.
//
//     BB7:
//     	ds_load_b64 v[54:55], v41 offset:1296                       ; d9d80510 36000029
//     	v_wmma_f32_16x16x16_f16 v[64:71], v[112:119], v[96:103], v[64:71] ; cc404040 1d02c170
//     	v_dual_fmac_f32 v1, v2, v3 :: v_dual_fmac_f32 v4, v5, v6    ; c8000000
//     	s_cbranch_scc0 BB7                                          ; bfa1fe6d
#include "assembly/program.h"

namespace vkgemm::tool {
namespace aco {
namespace {

using std::string_view;

// The bytes in the name of a load or store: "_b64", "_u16_d16_hi", "_dwordx4", "_format_d16_x".
double bytes_of(string_view op) {
    struct Width {
        string_view suffix;
        double bytes;
    };
    constexpr Width widths[] = {{"dwordx4", 16}, {"dwordx3", 12}, {"dwordx2", 8}, {"dword", 4},
                                {"b128", 16},    {"b96", 12},     {"b64", 8},     {"b32", 4},
                                {"16", 2},       {"short", 2},    {"8", 1},       {"byte", 1}};
    if (const size_t at = op.find("_d16"); at != std::string_view::npos) op = op.substr(0, at);
    const bool two = op.find("_2addr_") != std::string_view::npos || op.find("read2") != std::string_view::npos ||
                     op.find("write2") != std::string_view::npos;
    for (const Width& w : widths)
        if (op.ends_with(w.suffix)) return two ? 2 * w.bytes : w.bytes;
    return 4;
}

bool begins_with_any(string_view op, std::initializer_list<string_view> words) {
    for (const string_view word : words)
        if (op.starts_with(word)) return true;
    return false;
}

// Of an invocation.
double multiply_adds_of(string_view op) {
    if (begins_with_any(op, {"v_dual_fma", "v_fma", "v_mac_f"})) return 1;
    if (begins_with_any(op, {"v_pk_fma", "v_dot2", "v_dual_dot2"})) return 2;
    if (op.starts_with("v_dot4")) return 4;
    return op.starts_with("v_dot8") ? 8 : 0;
}

// The most that an instruction of this kind does, if its products are packed.
double packed_in(string_view op) {
    const double one = multiply_adds_of(op);
    return one <= 1 ? 1 : op.starts_with("v_dual_") ? 2 * one : one;
}

Instruction instruction_of(string_view op, string_view operands) {
    Instruction x{.op = std::string(op)};
    if (begins_with_any(op, {"v_wmma", "v_swmmac", "v_mfma"})) {
        x.unit = Unit::matrix;
        x.multiply_adds = shape_in(op);
    } else if (op.starts_with("v_")) {
        x.multiply_adds = multiply_adds_of(op);
        x.packed = packed_in(op);
        if (const size_t second = operands.find(":: "); second != std::string_view::npos)
            x.multiply_adds += multiply_adds_of(operands.substr(second + 3));
        if (x.multiply_adds > 0) x.unit = Unit::multiply_add;
    } else if (op.starts_with("ds_")) {
        x.unit = Unit::shared;
        x.bytes = bytes_of(op);
    } else if (op.starts_with("scratch_")) {
        x.unit = Unit::scratch;
        x.bytes = bytes_of(op);
    } else if (begins_with_any(op, {"global_", "buffer_", "flat_", "image_"})) {
        x.unit = Unit::memory;
        x.bytes = bytes_of(op);
    } else if (begins_with_any(op, {"s_wait", "s_delay_alu", "s_barrier", "s_nop", "s_sleep", "s_clause"})) {
        x.unit = Unit::wait;
    } else {
        x.unit = Unit::scalar;
    }
    return x;
}

void read_line(Listing& out, string_view line) {
    if (line.starts_with("BB") && line.find(':') != string_view::npos) return out.label(line.substr(0, line.find(':')));
    if (!line.starts_with("\t")) return;
    line = line.substr(0, line.find(';'));
    const string_view op = take_word(line);
    if (op.empty()) return;
    if (op.starts_with("s_branch") || op.starts_with("s_cbranch")) out.jump(take_word(line));
    out.add(instruction_of(op, line));
}

}  // namespace
}  // namespace aco

Program read_aco(std::string_view text) {
    Program out = read_lines(text, aco::read_line);
    for (const Instruction& x : out.instructions)
        if (x.op.starts_with("v_dual_")) out.subgroup_size = 32;  // waves of 64 have no pairs
    return out;
}

}  // namespace vkgemm::tool
