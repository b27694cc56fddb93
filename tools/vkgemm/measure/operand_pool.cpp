// SPDX-License-Identifier: MIT
#include "measure/operand_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "measure/numbers.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::tool {
namespace {

constexpr VkDeviceSize pool_rotation = 256'000'000;    // more than any cache holds
constexpr VkDeviceSize pool_unit = 1024;               // operands begin at multiples of it
constexpr VkDeviceSize least_bytes_kept = 64'000'000;  // of a buffer, so that few problems need a larger one
constexpr uint64_t pool_period = 4'194'301;            // elements; a prime, so that rows and columns differ

/// One period of random elements.
std::vector<std::byte> pool_bytes(Type type) {
    const auto [bytes, block] = std::pair{size_t{type_info(type).bytes}, size_t{type_info(type).blockElements}};
    Random random{static_cast<uint64_t>(type) + 1};
    std::vector<std::byte> data(pool_period / block * bytes);
    std::vector<double> values(block);
    for (size_t at = 0; at < data.size(); at += bytes) {
        for (double& value : values) value = random_value(type, random);
        encodeBlock(type, values, &data[at]);
    }
    return data;
}

}  // namespace

Run PooledOperands::run(size_t turn) const {
    Run run{.a = a.operand(turn % sets), .b = b.operand(turn % sets), .d = d.operand(turn % sets)};
    if (workspace.handle()) run.workspace = workspace.operand();
    return run;
}

Result<host::Buffer> OperandPool::at_least(host::Buffer& kept, VkDeviceSize bytes) {
    if (kept.handle() && kept.size() >= bytes) return kept;
    kept = {};
    auto made = device_.createBuffer(std::bit_ceil(std::max(bytes, least_bytes_kept)));
    if (!made) return made.status();
    if (Status s = device_.fill(*made, 0, made->size(), 0); !s) return s;
    return kept = *std::move(made);
}

Result<host::Buffer> OperandPool::random(Type type, VkDeviceSize bytes) {
    auto& [data, kept] = random_[type];
    if (kept.handle() && kept.size() >= bytes) return kept;
    kept = {};
    auto made = device_.createBuffer(std::bit_ceil(std::max(bytes, least_bytes_kept)));
    if (!made) return made.status();
    if (data.empty()) data = pool_bytes(type);
    for (VkDeviceSize at = 0; at < made->size(); at += data.size()) {
        const size_t now = std::min<VkDeviceSize>(data.size(), made->size() - at);
        if (Status s = device_.upload(*made, at, std::span(data).first(now)); !s) return s;
    }
    return kept = *std::move(made);
}

Result<PooledOperands> OperandPool::operands(const Case& c, bool cold, uint64_t workspace_bytes) {
    const Resolved resolved = resolve(c.problem);
    PooledOperands out;
    const auto whole_words = [](uint64_t bytes) { return (bytes + 3) / 4 * 4; };  // mixed types are read in words
    out.a.bytes = whole_words(resolved.a.span_bytes());
    out.b.bytes = whole_words(resolved.b.span_bytes());
    out.d.bytes = resolved.d.span_bytes();
    VkDeviceSize together = 0;
    for (PooledOperands::Slot* slot : {&out.a, &out.b, &out.d})
        together += slot->stride = roundUp(slot->bytes, pool_unit);
    if (cold) out.sets = static_cast<size_t>(divUp(pool_rotation, together));
    const bool shared = resolved.a.type == resolved.b.type;
    out.b.begin = shared ? out.sets * out.a.stride : 0;
    auto a = random(resolved.a.type, out.sets * out.a.stride + (shared ? out.sets * out.b.stride : 0));
    if (!a) return a.status();
    auto b = shared ? a : random(resolved.b.type, out.sets * out.b.stride);
    if (!b) return b.status();
    auto d = at_least(results_, out.sets * out.d.stride);
    if (!d) return d.status();
    out.a.buffer = *a;
    out.b.buffer = *b;
    out.d.buffer = *d;
    if (!workspace_bytes) return out;
    auto workspace = at_least(workspace_, roundUp(workspace_bytes, pool_unit));
    if (!workspace) return workspace.status();
    out.workspace = *workspace;
    return out;
}

}  // namespace vkgemm::tool
