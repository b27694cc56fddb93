// SPDX-License-Identifier: MIT
// A case as one line of text.
#include <algorithm>
#include <array>
#include <optional>

#include "kernels/run.h"
#include "kernels/sizes_text.h"
#include "plan/base/concat.h"
#include "plan/problem/problem_text.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test {
namespace {

constexpr std::array<std::string_view, 8> fills = {"exact", "special", "random", "wide",
                                                   "great", "digits",  "placed", "scaled"};  // by Fill
constexpr std::array<std::string_view, 3> aliases = {"none", "c", "residual"};               // by Alias
std::optional<Fill> fill_named(std::string_view name) {
    for (size_t i = 0; i < fills.size(); ++i)
        if (name == fills[i]) return static_cast<Fill>(i);
    return std::nullopt;
}
/// "text,slices": bits by the position of each word in way_names; words that are none are ignored.
uint32_t ways_named(std::string_view text) {
    uint32_t out = 0;
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), text.find(',') + 1))) {
        for (size_t i = 0; i < way_names.size(); ++i)
            if (text.substr(0, text.find(',')) == way_names[i]) out |= 1u << i;
        if (text.find(',') == std::string_view::npos) break;
    }
    return out;
}
std::string ways_text(uint32_t ways) {
    std::string out;
    for (size_t i = 0; i < way_names.size(); ++i)
        if (ways >> i & 1) out += (out.empty() ? "" : ",") + std::string(way_names[i]);
    return out;
}

std::string shifts_text(const std::array<uint32_t, 7>& shifts) {
    std::string out;
    for (const uint32_t x : shifts) out += (out.empty() ? "" : ",") + std::to_string(x);
    return out;
}
std::array<uint32_t, 7> shifts_named(std::string_view text) {
    std::array<uint32_t, 7> out{};
    for (uint32_t& x : out) {
        const std::string_view word = text.substr(0, text.find(','));
        x = readNumber<uint32_t>(word).value_or(0);
        text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    return out;
}

Status unknown_fill(std::string_view name) {
    std::string why = "fill knows";
    for (size_t i = 0; i < fills.size(); ++i) why += (i ? ", " : " ") + std::string(fills[i]);
    return plan::Refusal{VKGEMM_ERROR_PARSE, why + ", not '" + std::string(name) + "'"};
}

}  // namespace

std::string to_text(const Case& x) {
    std::string s;
    if (!x.kernel.empty()) s += "kernel=" + x.kernel + " ";
    if (!x.tile.empty()) s += "tile=" + x.tile + " ";
    if (x.addresses) s += "operands=addresses ";
    if (x.shift) s += "shift=" + std::to_string(x.shift) + " ";
    if (x.invocations) s += "invocations=" + std::to_string(x.invocations) + " ";
    if (x.samples) s += "samples=" + std::to_string(x.samples) + " ";
    if (x.sizes) s += "sizes=" + sizes_text(*x.sizes) + " ";
    if (x.strides) s += "strides=" + strides_text(*x.strides) + " ";
    if (x.alias != Alias::none) s += "alias=" + std::string(aliases[static_cast<size_t>(x.alias)]) + " ";
    if (x.reach) s += "reach=" + std::to_string(x.reach) + " ";
    if (x.shifts != std::array<uint32_t, 7>{}) s += "shifts=" + shifts_text(x.shifts) + " ";
    if (x.ways) s += "ways=" + ways_text(x.ways) + " ";
    if (x.broken) s += "broken=1 ";
    if (x.workspace) s += "workspace=" + std::to_string(*x.workspace) + " ";
    s += "fill=" + std::string(fills[static_cast<size_t>(x.fill)]) + " seed=" + std::to_string(x.seed) + " ";
    return s + plan::to_text(x.problem, x.alpha, x.beta);
}

plan::Result<Case> parse_case(std::string_view line) {
    Case x;
    while (true) {
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        const std::string_view word = line.substr(0, line.find(' '));
        const size_t equals = word.find('=');
        const std::string_view key = word.substr(0, equals),
                               value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
        if (key == "kernel")
            x.kernel = value;
        else if (key == "tile")
            x.tile = value;
        else if (key == "operands")
            x.addresses = value == "addresses";
        else if (key == "shift")
            x.shift = readNumber<uint32_t>(value).value_or(0);
        else if (key == "invocations")
            x.invocations = readNumber<uint32_t>(value).value_or(0);
        else if (key == "reach")
            x.reach = readNumber<uint32_t>(value).value_or(0);
        else if (key == "shifts")
            x.shifts = shifts_named(value);
        else if (key == "ways")
            x.ways = ways_named(value);
        else if (key == "broken")
            x.broken = value != "0";
        else if (key == "workspace")
            x.workspace = readNumber<uint64_t>(value);
        else if (key == "samples")
            x.samples = readNumber<uint64_t>(value).value_or(0);
        else if (key == "sizes")
            x.sizes = sizes_named(value);
        else if (key == "strides")
            x.strides = strides_named(value);
        else if (key == "alias")
            x.alias = static_cast<Alias>(std::find(aliases.begin(), aliases.end(), value) - aliases.begin());
        else if (key == "fill") {
            const auto fill = fill_named(value);
            if (!fill) return unknown_fill(value);
            x.fill = *fill;
        } else if (key == "seed")
            x.seed = readNumber<uint64_t>(value).value_or(1);
        else
            break;
        line.remove_prefix(word.size());
    }
    const auto read = plan::parse_problem(line);
    if (!read) return read.status();
    x.problem = read->problem;
    x.alpha = read->alpha;
    x.beta = read->beta;
    return x;
}

Case case_of(std::string_view kernel, std::string_view problem_line) {
    const auto read = plan::parse_problem(problem_line);
    Case x;
    x.kernel = kernel;
    x.problem = read->problem;
    x.alpha = read->alpha;
    x.beta = read->beta;
    return x;
}

}  // namespace vkgemm::test
