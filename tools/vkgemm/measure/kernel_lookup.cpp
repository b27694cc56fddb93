// SPDX-License-Identifier: MIT
#include "measure/kernel_lookup.h"

#include <algorithm>

#include "cli/text.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {
namespace {

Status usage(std::string text) { return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, std::move(text)}; }

struct TileField {
    std::string_view name;
    uint32_t Tile::*value;
};
constexpr TileField tile_fields[] = {{"WG", &Tile::WG}, {"BM", &Tile::BM}, {"BN", &Tile::BN}, {"BK", &Tile::BK},
                                     {"WM", &Tile::WM}, {"WN", &Tile::WN}, {"TM", &Tile::TM}, {"TN", &Tile::TN},
                                     {"MM", &Tile::MM}, {"MN", &Tile::MN}, {"MK", &Tile::MK}};

Tile tile_from(const std::vector<VkgemmTileConstant>& constants) {
    Tile tile;
    for (const VkgemmTileConstant& c : constants)
        for (const TileField& f : tile_fields)
            if (f.name == c.name) tile.*f.value = c.value;
    return tile;
}

}  // namespace

const std::vector<Kernel>& all_kernels() {
    static const std::vector<Kernel> all = [] {
        std::vector<Kernel> out;
        for (const VkgemmKernelInfo& info : kernels()) {
            Kernel k;
            k.index = static_cast<uint32_t>(out.size());
            k.info = info;
            if (const auto traits = kernelTraits(k.index)) k.traits = *traits;
            if (const auto constants = tileConstants(k.index)) k.tile = tile_from(*constants);
            out.push_back(k);
        }
        return out;
    }();
    return all;
}

const Kernel* find_kernel(std::string_view name) {
    const auto at =
        std::ranges::find(all_kernels(), name, [](const Kernel& k) { return std::string_view(k.info.name); });
    return at == all_kernels().end() ? nullptr : &*at;
}

bool is_native(std::string_view kernel) {
    const Kernel* const k = find_kernel(kernel);
    return k && k->traits.native != 0;
}

std::string label_of(std::string_view kernel) { return std::string(kernel) + (is_native(kernel) ? " (native)" : ""); }

Result<Tile> tile_with(const Kernel& k, const std::string& constants) {
    const auto all = tileConstants(k.index, constants.c_str());
    if (!all) return all.status();
    return tile_from(*all);
}

std::string unknown_kernel(const std::string& name, std::vector<std::string> others) {
    for (const Kernel& k : all_kernels()) {
        if (!k.is_product()) continue;
        if (k.family() == name) return "'" + name + "' is a family; give one of its kernels, such as " + k.name();
        others.push_back(k.name());
    }
    const std::string near = suggestion(name, others);
    return "unknown kernel '" + name + "'" + (near.empty() ? "; 'vkgemm kernels' lists those there are" : near);
}

std::string types_of(const Kernel& k) {
    const auto name = [](Type t) { return t == VKGEMM_TYPE_DEFAULT ? "mixed" : std::string(type_info(t).name); };
    const std::string d = k.info.d == VKGEMM_TYPE_DEFAULT ? "scaled" : name(k.info.d);
    return name(k.info.a) + "*" + name(k.info.b) + "+" + name(k.info.accumulate) + "->" + d;
}

bool has_types(const Kernel& k, const Problem& problem) {
    if (isFromInt8(problem.accuracy))
        return k.info.a == k.info.b && (k.info.a == VKGEMM_TYPE_I8 || k.info.a == VKGEMM_TYPE_I32) &&
               k.info.d == VKGEMM_TYPE_I32;
    const Resolved resolved = resolve(problem);
    const auto is_fp8 = [](Type t) { return t == VKGEMM_TYPE_E4M3 || t == VKGEMM_TYPE_E5M2; };
    const bool mixed = resolved.a.type != resolved.b.type || resolved.a.block != 1 || is_fp8(resolved.a.type);
    const bool operands = k.is_mixed()       ? mixed
                          : is_fp8(k.info.a) ? is_fp8(resolved.a.type) && is_fp8(resolved.b.type)
                                             : k.info.a == resolved.a.type && k.info.b == resolved.b.type;
    const bool is_whole = !type_info(k.info.accumulate).isFloat;
    const bool d = k.info.d == VKGEMM_TYPE_DEFAULT ? !is_whole || resolved.d.type != resolved.accumulate
                                                   : k.info.d == resolved.d.type;
    return operands && d && k.info.accumulate == resolved.accumulate;
}

Result<std::vector<const Kernel*>> find_kernels(const std::string& name, const Case* c, std::vector<std::string> also) {
    std::vector<const Kernel*> all;
    bool helper = false, family = false;
    for (const Kernel& k : all_kernels()) {
        also.push_back(k.family());
        const bool of_family = k.family() == name || k.variant() == name;
        if (k.name() != name && !of_family) continue;
        helper = !k.is_product();
        family = family || of_family;
        if (k.name() == name || !c || has_types(k, c->problem)) all.push_back(&k);
    }
    if (helper) return usage("'" + name + "' only works together with another kernel; it cannot be named");
    if (!all.empty()) return all;
    return usage(family ? "no kernel of the family '" + name + "' has the types of " + c->text
                        : unknown_kernel(name, std::move(also)));
}

std::string problem_for(const Kernel& k, const Problem& like) {
    const auto text = formatProblem(kernelProblem(k.index, like));
    return text ? *text : text.status().text;
}

uint64_t workspace_for(const Kernel& k) { return k.traits.packsFragments || k.traits.native ? workspace_limit : 0; }

std::vector<std::string> edge_problems(const Kernel& k) {
    const uint64_t m = k.tile.BM, n = k.tile.BN, depth = k.tile.BK ? k.tile.BK : 16;
    const auto t = columnMajor;
    std::vector<std::string> all = {
        problem_for(k, {.m = 2 * m, .n = 2 * n, .k = 2 * depth}),
        problem_for(k, {.m = m + 1, .n = n + 3, .k = 3 * depth + 1}) + " beta=1",
        problem_for(k, {.m = m + 8, .n = 2 * n, .k = 2 * depth + 16, .batch = 3, .a = {.layout = t}}),
        problem_for(k, {.m = m + 5, .n = n + 7, .k = depth + 5, .b = {.layout = t}}) + " bias=col act=relu",
        problem_for(k, {.m = m + 16, .n = n + 16, .k = depth + 16, .d = {.layout = t}}) + " c=separate beta=1",
    };
    if (m > 1 && n > 1)
        all.push_back(problem_for(k, {.m = m - 1, .n = n - 1, .k = depth - 1, .a = {.layout = t}, .b = {.layout = t}}));
    return all;
}

}  // namespace vkgemm::tool
