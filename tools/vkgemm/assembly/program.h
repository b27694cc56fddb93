// SPDX-License-Identifier: MIT
// The assembly of a kernel as instructions, whichever compiler wrote it. Pure.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// What an instruction keeps busy. Scratch is memory for values that have no registers.
enum class Unit : uint8_t { matrix, multiply_add, vector, shared, memory, scratch, scalar, wait, count };
inline constexpr const char* unit_names[] = {"matrix", "fma",     "vector", "shared",
                                             "memory", "scratch", "scalar", "waits"};

struct Instruction {
    Unit unit = Unit::vector;
    std::string op;            // "v_wmma_f32_16x16x16_f16"
    double multiply_adds = 0;  // of a subgroup, if it is of the matrix units; else of an invocation
    double packed = 1;         // the most that its kind multiplies, if its products are packed: 4 of v_dot4
    double bytes = 0;          // that an invocation loads or stores
    double repeats = 1;        // times that it is issued
};

/// A jump from an instruction to another; backward if to <= from.
struct Jump {
    size_t from, to;
};

struct Program {
    std::vector<Instruction> instructions;
    std::vector<Jump> jumps;
    uint32_t subgroup_size = 0;  // for which it is compiled; 0 if the text does not show it
};

/// One compiler's text.
struct Dialect {
    std::string_view text_name;  // of PipelineReport::Text
    Program (*read)(std::string_view);
};
Program read_aco(std::string_view);    // RADV
Program read_nak(std::string_view);    // NVK
Program read_ir3(std::string_view);    // Turnip
Program read_sass(std::string_view);   // nvdisasm; NVIDIA's driver provides no text
Program read_intel(std::string_view);  // ANV
inline constexpr Dialect dialects[] = {{"Assembly", read_aco},
                                       {"NAK assembly", read_nak},
                                       {"IR3 Assembly", read_ir3},
                                       {"SASS", read_sass},
                                       {"GEN Assembly", read_intel}};

/// nullopt if the driver provides no assembly that is read here.
std::optional<Program> program_of(const host::PipelineReport&);

/// The instructions of one turn of the loop that multiplies; none if no loop does.
std::vector<Instruction> inner_loop(const Program&);

/// How many there are for each unit.
std::array<double, static_cast<size_t>(Unit::count)> counts_of(const std::vector<Instruction>&);

/// For the readers: a program as far as it is read. Labels of jumps may come later, and are parts of the text.
class Listing {
   public:
    /// Where the next instruction is.
    void label(std::string_view name) { labels_.emplace_back(name, all_.size()); }
    /// The next instruction goes there.
    void jump(std::string_view label) { jumps_.emplace_back(label, all_.size()); }
    Instruction& add(Instruction x) { return all_.emplace_back(std::move(x)); }
    Program program() &&;

   private:
    std::vector<Instruction> all_;
    std::vector<std::pair<std::string_view, size_t>> labels_, jumps_;
};

/// For the readers: "16x16x16" anywhere in an op, or "m16n8k16": the product of the three sizes; 0 if there is none.
double shape_in(std::string_view op);

/// For the readers: the number beside the first of the texts that the op contains.
struct NumberOfText {
    std::string_view text;
    double number;
};
double number_in(std::string_view op, std::initializer_list<NumberOfText>, double otherwise);
bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names);

/// For the readers: the line's first word without blanks and commas before it, which is taken off the line.
std::string_view take_word(std::string_view& line);

/// For the readers: calls read(listing, line) for every line.
template <class Read>
Program read_lines(std::string_view text, Read read) {
    Listing out;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        read(out, line);
    }
    return std::move(out).program();
}

}  // namespace vkgemm::tool
