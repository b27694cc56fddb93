// SPDX-License-Identifier: MIT
#include "plan/kernels/family.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "plan/base/concat.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

struct Constant {
    std::string_view name;
    uint32_t Tile::*member;
    Constants bit;
};
constexpr Constant constants[] = {
#define X(id, name, meaning) {#name, &Tile::name, constant::name},
    VKGEMM_TILE_CONSTANTS(X)
#undef X
};

Refusal unknown_constant(std::string_view name) {
    std::vector<std::string_view> names;
    for (const Constant& c : constants) names.push_back(c.name);
    const std::string_view near = nearestWord(name, names);
    std::string why = concat({"a tile has no constant '", name, "'"});
    if (!near.empty()) why += concat({"; did you mean '", near, "'?"});
    return {VKGEMM_ERROR_TILE, concat({why, " (known: ", constant_names(~Constants{0}), ")"})};
}

}  // namespace

std::string constant_names(Constants set) {
    std::string out;
    for (const Constant& c : constants)
        if (set & c.bit) out += (out.empty() ? "" : ", ") + std::string(c.name);
    return out;
}

std::string to_text(const Tile& t) {
    char text[16 * std::size(constants)];  // the longest name, two signs, ten digits
    char* at = text;
    for (const Constant& c : constants) {
        if (!(t.*c.member)) continue;
        if (at != text) *at++ = ',';
        at = std::ranges::copy(c.name, at).out;
        *at++ = '=';
        at = std::to_chars(at, std::end(text), t.*c.member).ptr;
    }
    return {text, at};
}

Result<Tile> with_constants(const Tile& base, std::string_view text) {
    Tile tile = base;
    std::vector<std::string_view> seen;
    for (size_t at = 0; !text.empty() && at <= text.size();) {
        const std::string_view item = text.substr(at, text.find(',', at) - at);
        at += item.size() + 1;
        const size_t equals = item.find('=');
        if (equals == std::string_view::npos)
            return Refusal{VKGEMM_ERROR_TILE, concat({"tile: '", item, "' is not NAME=NUMBER, as in BM=128,BN=64"})};
        const std::string_view name = item.substr(0, equals);
        const Constant* constant = nullptr;
        for (const Constant& c : constants)
            if (c.name == name) constant = &c;
        if (!constant) return unknown_constant(name);
        for (std::string_view s : seen)
            if (s == name) return Refusal{VKGEMM_ERROR_TILE, concat({"tile: ", name, " is given twice"})};
        seen.push_back(name);
        const auto value = readNumber<uint32_t>(item.substr(equals + 1));
        if (!value)
            return Refusal{VKGEMM_ERROR_TILE, concat({"tile: ", name, " wants a whole number below 2^32, not '",
                                                      item.substr(equals + 1), "'"})};
        tile.*constant->member = *value;
    }
    return tile;
}

std::string to_text(const TileRules& rules) {
    std::string out;
    for (size_t i = 0; i < rules.count; ++i) {
        const BrokenRule& b = rules.broken[i];
        if (i) out += "; ";
        out += concat({b.rule, " (", b.left_name, " ", b.left, ", ", b.right_name, " ", b.right, ")"});
    }
    if (rules.reads) out += concat({"; ", rules.family, " reads ", constant_names(rules.reads)});
    return out;
}

}  // namespace vkgemm::plan
