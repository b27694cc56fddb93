// SPDX-License-Identifier: MIT
#include "assembly/bound.h"

#include <algorithm>

namespace vkgemm::tool {
namespace {

constexpr Architecture architectures[] = {
#define ARCHITECTURE(id, ...) {.name = #id, __VA_ARGS__},
#define RATE(...)
#include "assembly/architectures.def"
#undef ARCHITECTURE
#undef RATE
};

struct Rate {
    std::string_view architecture, op;
    double cycles;  // of 32 invocations
};
constexpr Rate rates[] = {
#define ARCHITECTURE(...)
#define RATE(id, op, cycles) {#id, op, cycles},
#include "assembly/architectures.def"
#undef ARCHITECTURE
#undef RATE
};

constexpr size_t units = static_cast<size_t>(Unit::count);
constexpr size_t index_of(Unit unit) { return static_cast<size_t>(unit); }

// "LDS*.128": an op that begins and ends so; without a star, one that begins so.
bool is_like(std::string_view op, std::string_view pattern) {
    const size_t star = pattern.find('*');
    if (star == std::string_view::npos) return op.starts_with(pattern);
    return op.starts_with(pattern.substr(0, star)) && op.ends_with(pattern.substr(star + 1));
}

std::optional<double> rate_of(const Architecture& a, std::string_view op) {
    for (const Rate& r : rates)
        if (r.architecture == a.name && is_like(op, r.op)) return r.cycles;
    return std::nullopt;
}

// Invocations that a multiply-add serves in a cycle. Packed products have the lanes of ordinary instructions.
double lanes_of(const Instruction& x, const Architecture& a) {
    return x.packed > 1 ? a.vector_lanes : a.multiply_add_lanes;
}

// Cycles of its unit. A vector instruction takes whole cycles.
std::optional<double> cycles_of(const Instruction& x, const Architecture& a, double size) {
    const std::optional<double> rate = rate_of(a, x.op);
    const auto lanes = [&](double n) { return std::max(1.0, size / n); };
    switch (x.unit) {
        case Unit::matrix:
            return rate;
        case Unit::multiply_add:
            return rate ? *rate * size / 32 : lanes(lanes_of(x, a));
        case Unit::vector:
            return rate ? *rate * size / 32 : lanes(a.vector_lanes);
        case Unit::shared:
            return rate ? *rate * size / 32 : x.bytes * size / a.shared_bytes;
        case Unit::memory:
        case Unit::scratch:
            return x.bytes * size / a.memory_bytes;
        default:
            return 1;
    }
}

// The cycles that its products would take at the peak of its unit: never more than it takes.
double useful_cycles(const Instruction& x, const Architecture& a, double size, double cycles) {
    if (x.unit == Unit::matrix || rate_of(a, x.op)) return cycles;
    return x.multiply_adds / x.packed * size / lanes_of(x, a);
}

}  // namespace

const Architecture* find_architecture(std::string_view device) {
    for (const Architecture& a : architectures)
        for (std::string_view names = a.devices; !names.empty();) {
            const std::string_view name = names.substr(0, names.find('|'));
            if (device == a.name || device.find(name) != std::string_view::npos) return &a;
            names.remove_prefix(std::min(names.size(), name.size() + 1));
        }
    return nullptr;
}

std::string architecture_names() {
    std::string out;
    for (const Architecture& a : architectures) out += (out.empty() ? "" : ", ") + std::string(a.name);
    return out;
}

std::optional<Bound> bound_of(const std::vector<Instruction>& loop, const Architecture& a, uint32_t subgroup_size) {
    double cycles[units] = {}, issued = 0, useful = 0;
    for (const Instruction& x : loop) {
        const std::optional<double> one = cycles_of(x, a, subgroup_size);
        if (!one) return std::nullopt;
        cycles[index_of(x.unit)] += *one * x.repeats;
        if (x.unit != Unit::wait) issued += x.repeats;
        if (x.unit == Unit::matrix || x.unit == Unit::multiply_add)
            useful += useful_cycles(x, a, subgroup_size, *one) * x.repeats;
    }
    if (useful == 0) return std::nullopt;
    double vector = cycles[index_of(Unit::vector)], multiply = cycles[index_of(Unit::multiply_add)];
    if (a.multiply_add_is_vector) vector += multiply;
    if (a.matrix_is_vector) vector += cycles[index_of(Unit::matrix)];
    const double loads = cycles[index_of(Unit::memory)], scratch = cycles[index_of(Unit::scratch)];
    const double memory = loads + scratch, shared = cycles[index_of(Unit::shared)];
    const char* const memory_name = scratch > loads ? "scratch" : "memory";
    const std::pair<double, const char*> busy[] = {
        {cycles[index_of(Unit::matrix)], "matrix"},
        {multiply, "fma"},
        {vector, "vector"},
        {shared + (a.memory_is_shared ? memory : 0), a.memory_is_shared && memory > shared ? memory_name : "shared"},
        {memory, memory_name},
        {cycles[index_of(Unit::scalar)], "scalar"},
        {a.issued > 0 ? issued / a.issued : 0, "issue"}};
    const auto* const longest = std::ranges::max_element(busy, {}, [](const auto& x) { return x.first; });
    return Bound{.cycles = longest->first, .peak_part = useful / longest->first, .unit = longest->second};
}

uint32_t subgroup_size_of(const Program& program, std::string_view tile, uint32_t otherwise) {
    if (program.subgroup_size) return program.subgroup_size;
    const size_t at = tile.find("SG=");
    if (at == std::string_view::npos) return otherwise;
    uint32_t size = 0;
    for (const char c : tile.substr(at + 3)) {
        if (c < '0' || c > '9') break;
        size = size * 10 + static_cast<uint32_t>(c - '0');
    }
    return size;
}

}  // namespace vkgemm::tool
