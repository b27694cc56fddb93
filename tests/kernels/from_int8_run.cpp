// SPDX-License-Identifier: MIT
// Operands, contexts and runs of f64 from products of int8.
#include "kernels/from_int8_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

namespace vkgemm::test::from_int8 {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double normal(Random& r) { return std::sqrt(-2 * std::log(1 - r.unit())) * std::cos(6.283185307179586 * r.unit()); }
double element(Values fill, bool wide, Random& r) {
    const double sign = r.one_in(2) ? -1 : 1;
    switch (fill) {
        case Values::phi_half:
            return (r.unit() - 0.5) * std::exp(0.5 * normal(r));
        case Values::phi_1:
            return (r.unit() - 0.5) * std::exp(normal(r));
        case Values::phi_2:
            return (r.unit() - 0.5) * std::exp(2 * normal(r));
        case Values::phi_4:
            return (r.unit() - 0.5) * std::exp(4 * normal(r));
        case Values::huge:
            return r.one_in(40) ? sign * 0x1p300 * r.unit() : r.unit() - 0.5;
        case Values::subnormal:
            return sign * std::bit_cast<double>(r.bits() >> (11 + r.below(53)));
        case Values::powers:
            return r.one_in(4) ? sign * 0 : std::ldexp(sign, static_cast<int>(r.between(-40, 40)));
        case Values::whole:
            return static_cast<double>(r.between(-9, 9));
        case Values::any:  // but what overflows when it is squared
            return std::ldexp(sign * r.unit(), static_cast<int>(r.between(-1100, 500)));
        case Values::edge: {  // alone in a row, it is about as large as an exponent allows
            const double root = std::sqrt(largest_over(wide, wide ? 138 : 116));
            const double off = std::ldexp(static_cast<double>(r.between(-2, 2)), -static_cast<int>(r.between(21, 52)));
            return std::ldexp(sign * root * (1 + off), static_cast<int>(r.between(-3, 3)));
        }
        case Values::cut:  // of which as much as possible is cut off
            return 1 - 0x1p-53;
        case Values::pairs:  // of filled()
        case Values::special:
            break;
    }
    const double list[] = {infinity, -infinity, nan, 0.0, -0.0, 1, -1, 0x1p1000};
    return r.one_in(12) ? list[r.below(8)] : r.unit() - 0.5;
}

std::vector<double> filled(uint64_t bytes, Values fill, bool wide, Random& random) {
    std::vector<double> out(bytes / sizeof(double));
    for (double& x : out) x = element(fill, wide, random);
    if (fill == Values::pairs)  // rows of two whole numbers whose squares add up to almost as much as is possible
        for (size_t i = 0; i + 1 < out.size(); i += 2) {
            const double most = largest_over(wide, wide ? 94 : 72);
            const double x = std::floor(std::sqrt(most)) - static_cast<double>(random.below(3));
            const double sign = random.one_in(2) ? -1 : 1;
            out[i] = sign * x;
            out[i + 1] = sign * std::floor(std::sqrt(most - x * x));
        }
    return out;
}

bool has_bounds(const Problem& p) {
    return std::ranges::any_of(p.epilogue, [](const vkgemm::plan::EpilogueStep& s) {
        return s.kind == VKGEMM_STEP_CLAMP_ROW || s.kind == VKGEMM_STEP_CLAMP_COL;
    });
}
void sort_pairs(std::vector<double>& bounds) {
    for (size_t i = 0; i + 1 < bounds.size(); i += 2)
        if (!(bounds[i] <= bounds[i + 1])) {
            const double low = std::isnan(bounds[i]) ? -1 : bounds[i];
            const double high = std::isnan(bounds[i + 1]) ? 1 : bounds[i + 1];
            bounds[i] = std::min(low, high);
            bounds[i + 1] = std::max(low, high);
        }
}

void fill_results(Run& out, const FromInt8& x, const VkgemmPlanInfo& info, Random& random) {
    const Values fill = out.beta == 0 ? Values::special : Values::phi_1;
    out.c = filled(info.requiredBytes[VKGEMM_SLOT_C], fill, x.wide, random);
    out.before = filled(info.requiredBytes[VKGEMM_SLOT_D], fill, x.wide, random);
    out.d = out.before;
}
void fill_epilogue(Run& out, const FromInt8& x, const VkgemmPlanInfo& info, Random& random) {
    out.bias = filled(info.requiredBytes[VKGEMM_SLOT_BIAS], x.fill, x.wide, random);
    out.scale = filled(info.requiredBytes[VKGEMM_SLOT_SCALE], x.fill, x.wide, random);
    if (has_bounds(out.p.completed)) sort_pairs(out.scale);
    const uint64_t of_residual = info.requiredBytes[VKGEMM_SLOT_RESIDUAL];
    out.residual = x.residual_is_d ? out.before : filled(of_residual, x.fill, x.wide, random);
}

/// The problem, completed with the run's sizes and strides in place of its own.
vkgemm::plan::PreparedProblem prepared(const Problem& given, const FromInt8& x) {
    auto out = vkgemm::plan::prepare(given);
    REQUIRE_MESSAGE(out, out.status().text);
    if (!x.sizes) return *out;
    const uint64_t batch = std::min(x.sizes->batch, out->completed.batch);  // the problem's if it is left out
    const vkgemm::plan::Sizes now = {x.sizes->m, x.sizes->n, x.sizes->k, batch};
    const auto of_run = x.strides ? vkgemm::plan::of_run(given, now, *x.strides) : with_sizes(out->completed, now);
    REQUIRE_MESSAGE(of_run, of_run.status().text);
    out->completed = *of_run;
    return *out;
}

/// What the plan `pack` makes of the operand that `from` has.
vkgemm::host::Buffer packed(const vkgemm::Plan& pack, vkgemm::Run from) {
    auto made = device().createBuffer(std::max<uint64_t>(pack.info().requiredBytes[VKGEMM_SLOT_D], 256));
    REQUIRE_MESSAGE(made, made.status().text);
    from.d = made->operand();
    const auto done = device().submit([&](VkCommandBuffer commands) { return pack.record(commands, from); });
    REQUIRE_MESSAGE(done, done.text);
    return *std::move(made);
}

}  // namespace

std::array<uint32_t, 5> largest(bool wide) {
    std::array<uint32_t, 5> p{1};
    for (size_t t = 0; t < (wide ? 18 : 15); ++t) {
        uint64_t carry = 0;
        for (uint32_t& digit : p) {
            carry += uint64_t{digit} * moduli[t];
            digit = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
    }
    for (size_t i = 0; i < p.size(); ++i) p[i] = p[i] >> 1 | (i + 1 < p.size() ? p[i + 1] << 31 : 0);
    --p[0];  // which is a multiple of 128
    return p;
}

double largest_over(bool wide, int scale) {
    const auto p = largest(wide);
    double out = 0;
    for (size_t i = p.size(); i-- > 0;) out += std::ldexp(p[i], static_cast<int>(32 * i) - scale);
    return out;
}

const vkgemm::Context& bare() {
    static vkgemm::Context context;
    if (context.handle()) return context;
    const auto& d = device();
    static VkPhysicalDeviceFeatures2 none{};
    static VkPhysicalDeviceBufferDeviceAddressFeatures addresses{};
    none.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    addresses.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
    addresses.bufferDeviceAddress = VK_TRUE;
    const auto pushes = [](const char* name) {
        return std::string_view(name) == VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    };
    if (d.apiVersion() < VK_API_VERSION_1_4 && std::ranges::none_of(d.enabledExtensions(), pushes))
        none.pNext = &addresses;
    auto made = vkgemm::Context::create({.instance = d.instance(),
                                         .physicalDevice = d.physicalDevice(),
                                         .device = d.handle(),
                                         .apiVersion = d.apiVersion(),
                                         .getInstanceProcAddr = d.getInstanceProcAddr(),
                                         .enabledFeatures = &none,
                                         .enabledExtensions = d.enabledExtensions()});
    REQUIRE_MESSAGE(made, made.status().text);
    context = *std::move(made);
    before_closing([] { context = {}; });
    return context;
}

Run run(const FromInt8& x, uint64_t seed) {
    const auto parsed = vkgemm::plan::parse_problem(x.line + " accuracy=f64_split" + (x.wide ? "_wide" : ""));
    REQUIRE_MESSAGE(parsed, parsed.status().text);
    const vkgemm::Context& context = x.context ? *x.context : device().context();
    const auto plan = context.createPlan(parsed->problem, {.kernel = x.kernel, .workspaceLimit = x.workspace});
    REQUIRE_MESSAGE(plan, x.line, ": ", plan.status().text);
    const VkgemmPlanInfo info = plan->info();
    Random random(seed);
    Run out{.p = prepared(parsed->problem, x),
            .alpha = parsed->alpha,
            .beta = parsed->beta,
            .promised = info.errorBound,
            .used = info.kernel};
    std::array<vkgemm::Plan, 2> packs;  // in which what comes packed has its size
    std::array<uint64_t, 2> bytes{info.requiredBytes[VKGEMM_SLOT_A], info.requiredBytes[VKGEMM_SLOT_B]};
    for (const VkgemmSlot slot : {VKGEMM_SLOT_A, VKGEMM_SLOT_B}) {
        if ((slot == VKGEMM_SLOT_A ? info.packedA : info.packedB) == VKGEMM_PACKED_NONE) continue;
        auto pack = plan->createPack(slot);
        REQUIRE_MESSAGE(pack, pack.status().text);
        bytes[slot] = pack->info().requiredBytes[slot];
        CHECK(pack->info().requiredBytes[VKGEMM_SLOT_D] == info.requiredBytes[slot]);
        packs[slot] = *std::move(pack);
    }
    out.a = filled(bytes[VKGEMM_SLOT_A], x.fill, x.wide, random);
    out.b = filled(bytes[VKGEMM_SLOT_B], x.fill, x.wide, random);
    fill_results(out, x, info, random);
    fill_epilogue(out, x, info, random);
    const auto buffer = [&](const std::vector<double>& data) {
        auto made = device().createBuffer(std::max<uint64_t>(8 * data.size(), 256));
        REQUIRE_MESSAGE(made, made.status().text);
        if (!data.empty()) REQUIRE(device().upload(*made, data));
        return *std::move(made);
    };
    const auto a = buffer(out.a), b = buffer(out.b), c = buffer(out.c), d = buffer(out.d);
    const auto bias = buffer(out.bias), scale = buffer(out.scale), residual = buffer(out.residual);
    auto space = device().createBuffer(std::max<uint64_t>(info.requiredBytes[VKGEMM_SLOT_WORKSPACE], 256));
    REQUIRE(space);
    REQUIRE(device().fill(*space, 0, space->size() / 4 * 4, 0xabcdef01));  // what a pass forgets to write
    vkgemm::host::Buffer packed_a, packed_b;
    if (packs[VKGEMM_SLOT_A].handle()) packed_a = packed(packs[VKGEMM_SLOT_A], {.a = a.operand()});
    if (packs[VKGEMM_SLOT_B].handle()) packed_b = packed(packs[VKGEMM_SLOT_B], {.b = b.operand()});
    vkgemm::Run r{.a = packs[VKGEMM_SLOT_A].handle() ? packed_a.operand() : a.operand(),
                  .b = packs[VKGEMM_SLOT_B].handle() ? packed_b.operand() : b.operand(),
                  .d = d.operand(),
                  .workspace = space->operand(),
                  .alpha = out.alpha,
                  .beta = out.beta,
                  .sizes = x.sizes,
                  .strides = x.strides};
    if (!out.c.empty()) r.c = c.operand();
    if (!out.bias.empty()) r.bias = bias.operand();
    if (!out.scale.empty()) r.scale = scale.operand();
    if (info.requiredBytes[VKGEMM_SLOT_RESIDUAL]) r.residual = x.residual_is_d ? d.operand() : residual.operand();
    const auto done = device().submit([&](VkCommandBuffer commands) { return plan->record(commands, r); });
    REQUIRE_MESSAGE(done, x.line, ": ", done.text);
    REQUIRE(device().download(d, out.d));
    return out;
}

}  // namespace vkgemm::test::from_int8
