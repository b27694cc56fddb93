// SPDX-License-Identifier: MIT
#include "plan/chain_key.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/base/next_word.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

struct NamedConstant {
    std::string_view name;
    uint32_t id;
    bool of_each_layer;
};
constexpr NamedConstant named_constants[] = {
#define X(id, name, meaning) {#name, id, false},
    VKGEMM_TILE_CONSTANTS(X) CHAIN_CONSTANTS(X)
#undef X
#define X(id, name, meaning) {#name, id, true},
        CHAIN_LAYER_CONSTANTS(X)
#undef X
};

std::string name_of(uint32_t id) {
    for (const NamedConstant& c : named_constants)
        if (id >= c.id && id < c.id + (c.of_each_layer ? CHAIN_LAYERS : 1))
            return c.of_each_layer ? concat({c.name, "_", id - c.id}) : std::string(c.name);
    return concat({"constant ", id});
}

std::optional<uint32_t> id_of(std::string_view name) {
    for (const NamedConstant& c : named_constants) {
        if (!name.starts_with(c.name)) continue;
        const std::string_view rest = name.substr(c.name.size());
        if (!c.of_each_layer && rest.empty()) return c.id;
        if (c.of_each_layer && rest.size() == 2 && rest[0] == '_' && rest[1] >= '0' && rest[1] < '0' + CHAIN_LAYERS)
            return c.id + static_cast<uint32_t>(rest[1] - '0');
    }
    return std::nullopt;
}

const ChainModule* find_module(std::string_view name) {
    const auto* const found = std::ranges::find(chain_modules, name, &ChainModule::name);
    return found == chain_modules.end() ? nullptr : &*found;
}

Refusal chain_key_error(const std::string& why) { return {VKGEMM_ERROR_PARSE, concat({"a chain's key: ", why})}; }
Refusal unsupported(std::initializer_list<TextPiece> text) { return {VKGEMM_ERROR_UNSUPPORTED, concat(text)}; }

// Why a layer is wider than the key's rows.
std::optional<Status> unfit_widths(const ChainKey& key) {
    const uint32_t widest = key.value(CHAIN_ID_MAX_WIDTH);
    const uint32_t step = key.module->on_matrix_units ? key.value(CHAIN_ID_MM) : 4;
    const uint32_t most = key.module->on_matrix_units ? CHAIN_MOST_WIDTH : CHAIN_WIDTH;
    if (widest == 0 || widest > most || widest % step)
        return unsupported({"MAX_WIDTH is ", widest, "; it must be a multiple of ", step, " up to ", most});
    for (uint32_t id = CHAIN_ID_WIDTH; id < CHAIN_ID_WIDTH + key.value(CHAIN_ID_LAYERS); ++id)
        if (key.value(id) == 0 || key.value(id) > widest)
            return unsupported({name_of(id), " is ", key.value(id), "; it must be 1 to MAX_WIDTH (", widest, ")"});
    const uint32_t inputs = key.value(CHAIN_ID_INPUTS);
    if (inputs == 0 || inputs > widest)
        return unsupported({"INPUTS is ", inputs, "; it must be 1 to MAX_WIDTH (", widest, ")"});
    return std::nullopt;
}

}  // namespace

uint32_t ChainKey::value(uint32_t id) const {
    const auto found = std::ranges::find(constants, id, &ChainConstant::id);
    return found == constants.end() ? 0 : found->value;
}

std::string to_text(const ChainKey& key) {
    std::string out = concat({key.module->name, " addresses "}), separator;
    for (const ChainConstant& c : key.constants) {
        out += concat({separator, name_of(c.id), "=", c.value});
        separator = ",";
    }
    return out;
}

bool is_chain_key(std::string_view text) { return find_module(next_word(text)) != nullptr; }

Result<ChainKey> parse_chain_key(std::string_view text) {
    const std::string_view name = next_word(text), binding = next_word(text);
    std::string_view list = next_word(text);
    ChainKey out = {.module = find_module(name), .constants = {}};
    if (!out.module) return unsupported({"'", name, "' names no module of chains of this version"});
    if (binding != "addresses" || list.empty() || !next_word(text).empty())
        return chain_key_error(
            "it is not MODULE addresses CONSTANTS, as in 'chain_simt_f32 addresses "
            "WG=128,BM=8,BK=16,LAYERS=1,INPUTS=16,MAX_WIDTH=16,WIDTH_0=16,LDB_0=16,LDD_0=16'");
    while (!list.empty()) {
        const std::string_view item = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), item.size() + 1));
        const size_t equals = item.find('=');
        const auto id = id_of(item.substr(0, equals));
        const auto value =
            equals == std::string_view::npos ? std::nullopt : readNumber<uint32_t>(item.substr(equals + 1));
        if (!id || !value) return chain_key_error(concat({"'", item, "' is not a constant, as in LAYERS=4"}));
        if (std::ranges::find(out.constants, *id, &ChainConstant::id) != out.constants.end())
            return chain_key_error(concat({"'", item, "' is there twice"}));
        out.constants.push_back({*id, *value});
    }
    std::ranges::sort(out.constants, {}, &ChainConstant::id);
    return out;
}

std::optional<Status> unfit_module(const ChainModule& m, const DeviceCaps& caps) {
    const auto minor = (caps.api_version >> 12) & 0x3ff;  // of Vulkan 1
    if (m.embedded.count == 0) return unsupported({m.embedded.why_missing});
    if (minor < m.minor_version)
        return unsupported({m.name, " needs Vulkan 1.", m.minor_version, ", and the context has Vulkan 1.", minor});
    if (m.needs & ~caps.features)
        return unsupported(
            {m.name, " needs features that are ", caps.not_there(), ": ", feature_names(m.needs & ~caps.features)});
    if (caps.max_push_constant_bytes < m.argument_bytes())
        return unsupported({m.name, " needs ", m.argument_bytes(), " bytes of push constants; the device has ",
                            caps.max_push_constant_bytes});
    if (!m.on_matrix_units) return std::nullopt;
    if (caps.subgroup_size == 0) return unsupported({"the size of the device's subgroups is not known"});
    if (matrix_size(m, caps) == 0)
        return unsupported(
            {"the matrix units have no product of ", info(m.type).name, " with sums of f32 of 16x16x16 or 8x8x8"});
    return std::nullopt;
}

uint32_t matrix_size(const ChainModule& m, const DeviceCaps& caps) {
    for (const uint32_t size : {16u, 8u})
        if (std::ranges::find(
                caps.matrix_shapes,
                MatrixShape{
                    .a = m.type, .b = m.type, .accumulate = f32, .result = f32, .m = size, .n = size, .k = size}) !=
            caps.matrix_shapes.end())
            return size;
    return 0;
}

namespace {

std::optional<Status> unfit_tile(const ChainKey& key, const DeviceCaps& caps) {
    const auto value = [&](ChainConstantId id) { return key.value(id); };
    const uint32_t mm = matrix_size(*key.module, caps), sg = caps.subgroup_size;
    if (value(CHAIN_ID_MM) != mm || value(CHAIN_ID_MN) != mm || value(CHAIN_ID_MK) != mm || value(CHAIN_ID_SG) != sg)
        return unsupported(
            {"MM is ", value(CHAIN_ID_MM), " and SG ", value(CHAIN_ID_SG), "; the device has ", mm, " and ", sg});
    const uint32_t wg = value(CHAIN_ID_WG), rows = value(CHAIN_ID_WM);
    if (wg == 0 || wg % sg || wg > caps.max_invocations)
        return unsupported({"WG is ", wg, "; it must be a multiple of ", sg, " up to ", caps.max_invocations});
    if (rows == 0 || rows % mm || rows > chain_most_rows_at_once)
        return unsupported({"WM is ", rows, "; it must be a multiple of ", mm, " up to ", chain_most_rows_at_once});
    return std::nullopt;
}

std::optional<Status> unfit_simt_tile(const ChainKey& key, const DeviceCaps& caps) {
    const uint32_t wg = key.value(CHAIN_ID_WG), rows = key.value(CHAIN_ID_BM), depth = key.value(CHAIN_ID_BK);
    if (wg < CHAIN_WIDTH / 4 || wg > caps.max_invocations)
        return unsupported({"WG is ", wg, "; it must be ", CHAIN_WIDTH / 4, " to ", caps.max_invocations});
    const uint32_t most_rows = chain_simt_most_rows_each * (wg / (CHAIN_WIDTH / 4));
    if (rows == 0 || rows % 4 || rows > most_rows)
        return unsupported(
            {"BM is ", rows, "; it must be a multiple of 4 up to ", most_rows, " with ", wg, " invocations"});
    if (depth == 0 || depth % 4 || depth > CHAIN_WIDTH)
        return unsupported({"BK is ", depth, "; it must be a multiple of 4 up to ", CHAIN_WIDTH});
    return std::nullopt;
}

uint64_t shared_bytes(const ChainKey& key) {
    const auto value = [&](ChainConstantId id) { return key.value(id); };
    return key.module->on_matrix_units
               ? chain_shared_bytes(value(CHAIN_ID_WEIGHT_CHUNKS), value(CHAIN_ID_LAYERS), value(CHAIN_ID_MAX_WIDTH),
                                    value(CHAIN_ID_MM), value(CHAIN_ID_WG) / value(CHAIN_ID_SG))
               : chain_simt_shared_bytes(value(CHAIN_ID_BM), value(CHAIN_ID_BK), value(CHAIN_ID_MAX_WIDTH));
}

}  // namespace

std::optional<Status> unfit(const ChainKey& key, const DeviceCaps& caps) {
    const ChainModule& module = *key.module;
    if (auto why = unfit_module(module, caps)) return why;
    if (auto why = module.on_matrix_units ? unfit_tile(key, caps) : unfit_simt_tile(key, caps)) return why;
    const uint32_t layers = key.value(CHAIN_ID_LAYERS);
    const uint32_t most_layers = module.layers - (key.value(CHAIN_ID_COUNTED) != 0);
    if (layers == 0 || layers > most_layers)
        return unsupported({"LAYERS is ", layers, "; it must be 1 to ", most_layers});
    if (auto why = unfit_widths(key)) return why;
    if (const uint64_t bytes = shared_bytes(key); bytes > caps.shared_bytes)
        return unsupported({"it takes ", bytes, " bytes of shared memory; the device has ", caps.shared_bytes});
    return std::nullopt;
}

}  // namespace vkgemm::plan
