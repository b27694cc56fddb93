// SPDX-License-Identifier: MIT
#include "plan/steps/pipeline_key.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/base/next_word.h"
#include "shaders/common/moduli.h"
#include "shaders/list_tiles/report.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

// A constant that the problem sets, and the largest value that a plan gives it.
struct ProblemConstant {
    std::string_view name;
    uint32_t ProblemConstants::*member;
};
constexpr ProblemConstant problem_constants[] = {
#define X(id, name, meaning) {#name, &ProblemConstants::name},
    VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
};

uint32_t most_of(const ProblemConstant& c) {
    if (c.name == "ALIGNED") return WIDE_A | WIDE_B | WIDE_C | WIDE_D | CHUNKS_A | CHUNKS_B;
    uint32_t steps = 0, types = 0;
#define VKGEMM_ROW(name, number, ...) steps = std::max<uint32_t>(steps, number);
    VKGEMM_STEP_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
#define VKGEMM_ROW(name, number, ...) types = std::max<uint32_t>(types, number);
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
    if (c.name.starts_with("STEP_")) return steps;
    if (c.name.starts_with("FORMAT_")) return types;
    if (c.name == "SCALARS") return SCALARS_ALPHA | SCALARS_BETA | SCALARS_CLAMP | SCALARS_MONITOR | SCALARS_LARGEST;
    if (c.name == "INDICES_PER_ROW" || c.name == "SLOPE") return UINT32_MAX;
    if (c.name == "BY_INDEX") return 2;
    if (c.name == "PRODUCTS") return MODULI_WIDE;
    if (c.name == "TABLE_HAS")
        return TABLE_HAS_M | TABLE_HAS_N | TABLE_HAS_K | TABLE_SWAPPED | TABLE_C_IS_D | TABLE_ADDRESSES | TABLE_MIXED |
               TABLE_DIRECT | TABLE_COUNTS;
    return 1;
}

std::string to_text(const ProblemConstants& all) {
    std::string out;
    for (const ProblemConstant& c : problem_constants)
        if (all.*c.member) out += concat({(out.empty() ? "" : ","), c.name, "=", all.*c.member});
    return out;
}

Refusal malformed(const std::string& why) { return {VKGEMM_ERROR_PARSE, concat({"a pipeline's key: ", why})}; }

Result<ProblemConstants> parse_constants(std::string_view text) {
    ProblemConstants out;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const std::string_view name = item.substr(0, item.find('='));
        const auto* const c = std::ranges::find(problem_constants, name, &ProblemConstant::name);
        const auto value = readNumber<uint32_t>(name == item ? item : item.substr(name.size() + 1));
        if (c == std::end(problem_constants) || !value)
            return malformed(concat({"'", item, "' is not a constant, as in TRANS_B=1,WHOLE=1"}));
        if (*value > most_of(*c))
            return malformed(concat({c->name, " is ", *value, ", above the limit of ", most_of(*c)}));
        out.*c->member = *value;
    }
    return out;
}

constexpr std::string_view binding_names[] = {"descriptors", "addresses", "grouped"};  // the last one by addresses too
constexpr std::string_view base_name = "DISPATCH_BASE";                                // among the constants, last

}  // namespace

PipelineKey key_of(const Step& s, Binding b) {
    return {.kernel = s.kernel,
            .tile = s.tile,
            .constants = s.constants,
            .binding = b,
            .is_grouped = s.is_grouped,
            .dispatch_base = s.is_sliced()};
}

Step step_of(const PipelineKey& key) {
    Step out = unsized_step(*key.kernel, key.tile, key.constants);
    out.groups_per_dispatch = key.dispatch_base;
    out.is_grouped = key.is_grouped;
    return out;
}

std::string to_text(const PipelineKey& key) {
    std::string set = to_text(key.constants);
    if (key.dispatch_base) set += concat({(set.empty() ? "" : ","), base_name, "=1"});
    return concat({key.kernel->name, " ", binding_names[key.is_grouped ? 2 : static_cast<size_t>(key.binding)], " ",
                   to_text(key.tile), (set.empty() ? "" : " "), set});
}

Result<PipelineKey> parse_pipeline_key(std::string_view text) {
    const std::string_view name = next_word(text), binding = next_word(text), tile = next_word(text);
    std::string_view set = next_word(text);
    if (tile.empty() || !next_word(text).empty())
        return malformed(
            "it is not KERNEL BINDING TILE CONSTANTS, as in 'naive_f32_8x8 addresses WG=64,BM=8,BN=8,TM=1,TN=1 "
            "WHOLE=1'");
    const auto* const known = std::ranges::find(binding_names, binding);
    if (known == std::end(binding_names))
        return malformed(concat({"'", binding, "' is none of descriptors, addresses and grouped"}));
    const auto values = with_constants({}, tile);
    if (!values) return malformed(values.status().text);
    const std::string base_item = concat({base_name, "=1"});
    const bool base = set.ends_with(base_item);
    if (base) set.remove_suffix(base_item.size());
    if (base && set.ends_with(',')) set.remove_suffix(1);
    const auto constants_set = parse_constants(set);
    if (!constants_set) return constants_set.status();
    const Kernel* const kernel = find_kernel(name);
    if (!kernel) return Refusal{VKGEMM_ERROR_UNSUPPORTED, unknown_kernel(std::string(name))};
    const bool grouped = binding == "grouped";
    const Binding by = binding == "descriptors" ? Binding::descriptors : Binding::addresses;
    return PipelineKey{.kernel = kernel,
                       .tile = *values,
                       .constants = *constants_set,
                       .binding = by,
                       .is_grouped = grouped,
                       .dispatch_base = base};
}

std::optional<Status> unfit(const PipelineKey& key, const DeviceCaps& dev) {
    Request request;
    request.addresses = key.binding == Binding::addresses;
    const bool pushes = (dev.features & need::push_descriptor) && dev.max_storage_buffers >= BIND_COUNT;
    if (request.addresses)
        if (const auto binding = choose_binding(dev, request); !binding) return binding.status();
    if (!request.addresses && !pushes)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({key.kernel->name, " needs push descriptors with ", BIND_COUNT,
                                                         " storage buffers, which are ", dev.not_there()})};
    if (key.is_grouped && !key.kernel->module.takes_groups())
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({key.kernel->name, " computes one product, not the groups of a table"})};
    if (VKGEMM_HAS_NATIVE && key.kernel->module.is_native() && (key.binding != Binding::addresses || key.dispatch_base))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({key.kernel->name,
                                                         " takes operands by address alone, in one "
                                                         "launch"})};
    const Role role = key.kernel->module.role;
    const bool is_mixed = key.kernel->module.is_mixed() || role == Role::lister || role == Role::splitter;
    const ProblemConstants& c = key.constants;
    if (!is_mixed && (c.FORMAT_A || c.FORMAT_B))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({key.kernel->name, " reads no FORMAT_A and FORMAT_B"})};
    const bool counts_moduli = role == Role::splitter || role == Role::joiner;
    if (counts_moduli ? c.PRODUCTS != MODULI && c.PRODUCTS != MODULI_WIDE : c.PRODUCTS != 0)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({key.kernel->name, " cannot have PRODUCTS=", c.PRODUCTS,
                                                         "; split_int8 and join_int8 have ", MODULI, " or ",
                                                         MODULI_WIDE, ", other kernels none"})};
    return unfit_device(*key.kernel, key.tile, dev);
}

}  // namespace vkgemm::plan
