// SPDX-License-Identifier: MIT
#include "report/shader_stats.h"

#include <algorithm>
#include <string_view>

namespace vkgemm::tool {
namespace {

using Figure = std::optional<double> ShaderStats::*;

/// One row = one word of a driver. RADV's SGPRs and NVK's "Spills to reg" are left out: they cost a move, not memory.
struct Statistic {
    std::string_view name;
    Figure figure;
};
constexpr Statistic words[] = {
    // RADV
    {"VGPRs", &ShaderStats::registers},
    {"Spilled VGPRs", &ShaderStats::spills},
    {"Scratch size", &ShaderStats::scratch},
    {"LDS size", &ShaderStats::shared},
    {"Subgroups per SIMD", &ShaderStats::at_once},
    // NVK
    {"Number of GPRs", &ShaderStats::registers},
    {"Spills to memory", &ShaderStats::spills},
    {"SLM size", &ShaderStats::scratch},
    {"Max warps/SM", &ShaderStats::at_once},
    // Turnip
    {"Registers used", &ShaderStats::registers},
    {"STP Count", &ShaderStats::spills},
    {"Max Waves Per Core", &ShaderStats::at_once},
    // ANV; its "GRF registers" are those that the hardware hands out, and 0 where it hands out all of them
    {"Max live registers", &ShaderStats::registers},
    {"Scratch Memory Size", &ShaderStats::scratch},
    {"Workgroup Memory Size", &ShaderStats::shared},
    // ANV and Honeykrisp
    {"Spills", &ShaderStats::spills},
    // Honeykrisp
    {"GPRs", &ShaderStats::registers},
    {"Scratch", &ShaderStats::scratch},
    // NVIDIA
    {"Register Count", &ShaderStats::registers},
    {"Binary Size", &ShaderStats::code},
    // machine code (measure/machine_code.cpp)
    {"registers at the start", &ShaderStats::registers},
    {"local memory", &ShaderStats::scratch},
    {"static shared memory", &ShaderStats::shared},
    {"dynamic shared memory", &ShaderStats::shared},
    {"code", &ShaderStats::code},
};
// Turnip has no word of its own for this one, but another unit; it is told from the others by its registers' name.
constexpr std::string_view code_size = "Code size", counted_in_words = "Registers used";

constexpr std::string_view matrix_instructions[] = {"v_wmma", "v_swmmac", "hmma", "imma", "dpas"};
constexpr std::string_view assemblies[] = {"Assembly", "NAK assembly", "IR3 Assembly", "GEN Assembly"};

size_t count(std::string_view text, std::string_view word) {
    size_t n = 0;
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) ++n;
    return n;
}

std::string matrix_words(const std::string& assembly) {
    std::string out;
    for (const std::string_view word : matrix_instructions)
        if (const size_t n = count(assembly, word))
            out += (out.empty() ? "" : ", ") + std::to_string(n) + " " + std::string(word);
    return out;
}

}  // namespace

const host::PipelineReport::Text* assembly_of(const host::PipelineReport& report) {
    for (const auto& text : report.texts)
        if (std::ranges::find(assemblies, text.name) != std::end(assemblies)) return &text;
    return nullptr;
}

ShaderStats shader_stats_of(const host::PipelineReport& report) {
    ShaderStats out;
    bool by_words = false;
    for (const auto& s : report.statistics) {
        for (const Statistic& w : words)
            if (s.name == w.name) out.*w.figure = (out.*w.figure).value_or(0) + s.value;
        if (s.name == code_size) out.code = s.value;
        by_words |= s.name == counted_in_words;
    }
    if (by_words && out.code) *out.code *= 4;
    if (const auto* assembly = assembly_of(report)) out.matrix = matrix_words(assembly->text);
    return out;
}

}  // namespace vkgemm::tool
