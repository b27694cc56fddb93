// SPDX-License-Identifier: MIT
// f64 from products of int8 (accuracy=f64_split): every bit of D, which is the same on every device, and its error.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "plan/base/concat.h"
#include "plan/problem/problem_text.h"
#include "support/device.h"
#include "support/exact_sum.h"
#include "support/random.h"
#include "vkgemm/text.hpp"

using namespace vkgemm::test;
using vkgemm::plan::Problem;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The moduli, whose product less 2, halved, is the largest magnitude that can be found again.
constexpr uint32_t moduli[] = {256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197};
struct Wide {
    uint64_t high = 0, low = 1;
};
Wide largest() {
    Wide p;
    for (const uint32_t modulus : moduli) {
        const uint64_t below = (p.low & 0xffffffff) * modulus, above = (p.low >> 32) * modulus + (below >> 32);
        p = {p.high * modulus + (above >> 32), above << 32 | (below & 0xffffffff)};
    }
    return {p.high >> 1, (p.high << 63 | p.low >> 1) - 1};
}

// A row of A, or a column of B, as whole numbers times 2^-exponent.
struct Scaled {
    std::vector<uint64_t> size;
    std::vector<bool> negative;
    int exponent = 0;
    bool is_finite = true;
    double norm = 0, sum = 0;  // of magnitudes, divided by 2^order
    int order = 0;             // 2^order is at most the largest magnitude, and at least half of it

    explicit Scaled(const std::vector<double>& x) {
        double largest_x = 0;
        for (const double v : x) {
            is_finite = is_finite && std::isfinite(v);
            largest_x = std::max(largest_x, std::fabs(v));
        }
        if (!is_finite || largest_x == 0) {
            size.assign(x.size(), 0);
            negative.assign(x.size(), false);
            return;
        }
        order = std::ilogb(largest_x);
        uint64_t squares = 0;
        for (const double v : x) {
            const double up = std::ceil(std::ldexp(std::fabs(v), 22 - order));
            const auto whole = v != 0 && up == 0 ? uint64_t{1} : static_cast<uint64_t>(up);
            squares += whole * whole;
            const double part = std::ldexp(v, -order);
            norm += part * part;
            sum += std::fabs(part);
        }
        norm = std::sqrt(norm);
        int half = 60;  // the largest with which squares * 4^half is at most largest()
        while (exceeds(squares, 2 * half)) --half;
        exponent = half + 22 - order;
        for (const double v : x) {
            int of = 0;
            const uint64_t s = ExactSum::significand(v, of);
            const int left = of + exponent;
            size.push_back(left >= 0 ? s << left : left > -64 ? s >> -left : 0);
            negative.push_back(std::signbit(v));
        }
    }

   private:
    static bool exceeds(uint64_t squares, int exponent) {
        const Wide most = largest();
        ExactSum left;
        left.add(squares, 1, exponent, false);
        left.add(most.high, uint64_t{1} << 63, 1, true);
        left.add(most.low, 1, 0, true);
        return left.sign() > 0;
    }
};

/// What kinds of elements A and B have.
enum class Values { phi_half, phi_1, phi_2, phi_4, huge, subnormal, powers, whole, any, edge, pairs, special };
constexpr Values finite_fills[] = {Values::phi_half,  Values::phi_1,  Values::phi_2, Values::phi_4, Values::huge,
                                   Values::subnormal, Values::powers, Values::whole, Values::any,   Values::edge};

double normal(Random& r) { return std::sqrt(-2 * std::log(1 - r.unit())) * std::cos(6.283185307179586 * r.unit()); }
double element(Values fill, Random& r) {
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
            const double root = std::sqrt(std::ldexp(static_cast<double>(largest().high), -52));
            const double off = std::ldexp(static_cast<double>(r.between(-2, 2)), -static_cast<int>(r.between(21, 52)));
            return std::ldexp(sign * root * (1 + off), static_cast<int>(r.between(-3, 3)));
        }
        case Values::pairs:  // of filled()
        case Values::special:
            break;
    }
    const double list[] = {infinity, -infinity, nan, 0.0, -0.0, 1, -1, 0x1p1000};
    return r.one_in(12) ? list[r.below(8)] : r.unit() - 0.5;
}

bool same_bits(double x, double y) {
    return (std::isnan(x) && std::isnan(y)) || std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
}
double times(double x, double y) {  // rounded, never part of a fused multiply-add
    volatile double product = x * y;
    return product;
}

/// A context without what f64 from int8 can do without: f64, elements of 8 bits and, if the device can push
/// descriptors, addresses.
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

struct FromInt8 {
    std::string line;
    Values fill = Values::phi_1;
    const vkgemm::Context* context = nullptr;  // null: the device's
    uint64_t workspace = uint64_t{1} << 30;
    const char* kernel = nullptr;
};

/// Operands and results of one run.
struct Run {
    vkgemm::plan::PreparedProblem p;
    double alpha, beta;
    std::vector<double> a{}, b{}, c{}, d{}, before{};  // before: what D held
    double promised = 0;
    std::string used{};

    uint64_t at(const vkgemm::plan::Matrix& x, uint64_t outer_stride, uint64_t ratio, uint64_t outer_ratio,
                uint64_t batch, uint64_t row, uint64_t col) const {
        const uint64_t inner = batch % p.completed.batch / ratio, outer = batch / p.completed.batch / outer_ratio;
        return outer * outer_stride + inner * x.batchStride +
               (x.layout == vkgemm::plan::rowMajor ? row * x.ld + col : col * x.ld + row);
    }
    uint64_t at_a(uint64_t batch, uint64_t row, uint64_t k) const {
        const Problem& q = p.completed;
        return at(q.a, q.outerStrideA, q.ratioA, q.outerRatioA, batch, row, k);
    }
    uint64_t at_b(uint64_t batch, uint64_t k, uint64_t col) const {
        const Problem& q = p.completed;
        return at(q.b, q.outerStrideB, q.ratioB, q.outerRatioB, batch, k, col);
    }
    uint64_t at_d(uint64_t batch, uint64_t row, uint64_t col) const {
        return at(p.completed.d, p.completed.outerStrideD, 1, 1, batch, row, col);
    }
    uint64_t at_c(uint64_t batch, uint64_t row, uint64_t col) const {
        return at(p.completed.c, p.completed.outerStrideC, 1, 1, batch, row, col);
    }
};

std::vector<double> filled(uint64_t bytes, Values fill, Random& random) {
    std::vector<double> out(bytes / sizeof(double));
    for (double& x : out) x = element(fill, random);
    if (fill == Values::pairs)  // rows of two whole numbers whose squares add up to almost as much as is possible
        for (size_t i = 0; i + 1 < out.size(); i += 2) {
            const double most = std::ldexp(static_cast<double>(largest().high), -8);
            const double x = std::floor(std::sqrt(most)) - static_cast<double>(random.below(3));
            const double sign = random.one_in(2) ? -1 : 1;
            out[i] = sign * x;
            out[i + 1] = sign * std::floor(std::sqrt(most - x * x));
        }
    return out;
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

Run run(const FromInt8& x, uint64_t seed) {
    const auto parsed = vkgemm::plan::parse_problem(x.line + " accuracy=f64_split");
    REQUIRE_MESSAGE(parsed, parsed.status().text);
    const vkgemm::Context& context = x.context ? *x.context : device().context();
    const auto plan = context.createPlan(parsed->problem, {.kernel = x.kernel, .workspaceLimit = x.workspace});
    REQUIRE_MESSAGE(plan, x.line, ": ", plan.status().text);
    const VkgemmPlanInfo info = plan->info();
    const auto prepared = vkgemm::plan::prepare(parsed->problem);
    REQUIRE(prepared);
    Random random(seed);
    Run out{
        .p = *prepared, .alpha = parsed->alpha, .beta = parsed->beta, .promised = info.errorBound, .used = info.kernel};
    // What comes packed has its size in the plan that packs it.
    std::array<vkgemm::Plan, 2> packs;
    std::array<uint64_t, 2> bytes{info.requiredBytes[VKGEMM_SLOT_A], info.requiredBytes[VKGEMM_SLOT_B]};
    for (const VkgemmSlot slot : {VKGEMM_SLOT_A, VKGEMM_SLOT_B}) {
        if ((slot == VKGEMM_SLOT_A ? info.packedA : info.packedB) == VKGEMM_PACKED_NONE) continue;
        auto pack = plan->createPack(slot);
        REQUIRE_MESSAGE(pack, pack.status().text);
        bytes[slot] = pack->info().requiredBytes[slot];
        CHECK(pack->info().requiredBytes[VKGEMM_SLOT_D] == info.requiredBytes[slot]);
        packs[slot] = *std::move(pack);
    }
    out.a = filled(bytes[VKGEMM_SLOT_A], x.fill, random);
    out.b = filled(bytes[VKGEMM_SLOT_B], x.fill, random);
    out.c = filled(info.requiredBytes[VKGEMM_SLOT_C], out.beta == 0 ? Values::special : Values::phi_1, random);
    out.before = filled(info.requiredBytes[VKGEMM_SLOT_D], out.beta == 0 ? Values::special : Values::phi_1, random);
    out.d = out.before;
    const auto buffer = [&](const std::vector<double>& data) {
        auto made = device().createBuffer(std::max<uint64_t>(8 * data.size(), 256));
        REQUIRE_MESSAGE(made, made.status().text);
        if (!data.empty()) REQUIRE(device().upload(*made, data));
        return *std::move(made);
    };
    const auto a = buffer(out.a), b = buffer(out.b), c = buffer(out.c), d = buffer(out.d);
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
                  .beta = out.beta};
    if (!out.c.empty()) r.c = c.operand();
    const auto done = device().submit([&](VkCommandBuffer commands) { return plan->record(commands, r); });
    REQUIRE_MESSAGE(done, x.line, ": ", done.text);
    REQUIRE(device().download(d, out.d));
    return out;
}

/// What of the products is not finite, summed as IEEE arithmetic does: no other sum is not finite.
double sum_of_others(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t k = 0; k < a.size(); ++k)
        if (!std::isfinite(a[k]) || !std::isfinite(b[k])) sum += times(a[k], b[k]);
    return sum;
}

/// The product of a row and a column, whole numbers multiplied without any rounding, and then rounded once.
double expected(const Scaled& a, const Scaled& b) {
    ExactSum sum;
    for (size_t k = 0; k < a.size.size(); ++k)
        sum.add(a.size[k], b.size[k], -a.exponent - b.exponent, a.negative[k] != b.negative[k]);
    return sum.rounded();
}

/// How far `d` is from the product, divided by 2^(a.order + b.order), and how far it may be: each element is cut off
/// below 2^-exponent, and an exponent is so large that this is at most twice the norm divided by the root of P / 2.
/// Then D is rounded once. 2^-19 covers how norms are rounded up.
void check_error(const Run& x, const std::vector<double>& a, const std::vector<double>& b, const Scaled& of_a,
                 const Scaled& of_b, double d) {
    ExactSum sum;
    for (size_t k = 0; k < a.size(); ++k) sum.add(a[k], b[k]);
    const double exact_over = sum.over(of_a.order + of_b.order);
    sum.add(d, 1, true);
    const int order = of_a.order + of_b.order;
    const double error = std::fabs(sum.over(order)), k = static_cast<double>(a.size());
    const double root = std::sqrt(static_cast<double>(largest().high)) * 0x1p32 / (1 + 0x1p-19);
    const double cut_a = 2 * of_a.norm / root, cut_b = 2 * of_b.norm / root;
    const double half_unit = std::max(0x1p-53 * (std::fabs(exact_over) + error), std::ldexp(0x1p-1073, -order - 2));
    const double bound = cut_a * of_b.sum + cut_b * of_a.sum + k * cut_a * cut_b + half_unit;
    CHECK_MESSAGE(error <= bound, x.used, " is off by ", error, ", and the bound is ", bound);
    if (std::fabs(d) > 0x1p-1000) CHECK(error <= 4 * x.promised);  // the largest elements are below 2^(order + 1)
}

struct Count {
    size_t elements = 0, wrong = 0;
    std::string first{};
};

/// Adds the product of the elements of K from `begin` to `end` to D, or writes it if it is the first slice.
void add_slice(const Run& x, uint64_t batch, uint64_t begin, uint64_t end, bool errors, std::vector<double>& want) {
    const Problem& p = x.p.completed;
    std::vector<std::vector<double>> rows(p.m), cols(p.n);
    std::vector<Scaled> scaled_rows, scaled_cols;
    for (uint64_t i = 0; i < p.m; ++i) {
        for (uint64_t k = begin; k < end; ++k) rows[i].push_back(x.a[x.at_a(batch, i, k)]);
        scaled_rows.emplace_back(rows[i]);
    }
    for (uint64_t j = 0; j < p.n; ++j) {
        for (uint64_t k = begin; k < end; ++k) cols[j].push_back(x.b[x.at_b(batch, k, j)]);
        scaled_cols.emplace_back(cols[j]);
    }
    for (uint64_t i = 0; i < p.m; ++i)
        for (uint64_t j = 0; j < p.n; ++j) {
            const bool finite = scaled_rows[i].is_finite && scaled_cols[j].is_finite;
            double value = finite ? expected(scaled_rows[i], scaled_cols[j]) : sum_of_others(rows[i], cols[j]);
            if (errors && finite && std::isfinite(value) && x.alpha == 1 && x.beta == 0)
                check_error(x, rows[i], cols[j], scaled_rows[i], scaled_cols[j], value);
            value = x.alpha == 0 ? 0 : times(x.alpha, value);
            const uint64_t at = x.at_d(batch, i, j);
            if (begin > 0)
                value += want[at];
            else if (p.cSource != VKGEMM_C_NONE && x.beta != 0)
                value += times(x.beta, p.cSource == VKGEMM_C_IS_D ? x.before[at] : x.c[x.at_c(batch, i, j)]);
            want[at] = value;
        }
}

/// Compares every element of D, and what is between them, with what integers give.
Count compare(const FromInt8& what, const Run& x, bool errors) {
    const Problem& p = x.p.completed;
    Count count;
    std::vector<double> want = x.before;
    constexpr uint64_t most_k = 131072, unit = 256;  // of a slice, which is a multiple of the unit
    const uint64_t slices = std::max<uint64_t>(1, (p.k + most_k - 1) / most_k);
    const uint64_t depth = slices == 1 ? p.k : ((p.k + slices - 1) / slices + unit - 1) / unit * unit;
    for (uint64_t batch = 0; batch < p.batch * p.outerBatch; ++batch)
        for (uint64_t slice = 0; slice < slices; ++slice)
            add_slice(x, batch, slice * depth, std::min(p.k, (slice + 1) * depth), errors, want);
    count.elements = p.batch * p.outerBatch * p.m * p.n;
    for (size_t i = 0; i < want.size(); ++i)
        if (!same_bits(want[i], x.d[i]) && count.wrong++ == 0)
            count.first = vkgemm::plan::concat({what.line, " (", x.used, "), element ", i, ": ",
                                                vkgemm::numberText(x.d[i]), ", not ", vkgemm::numberText(want[i])});
    return count;
}

void check(const FromInt8& x, uint64_t seed = 1, bool errors = false) {
    const Count count = compare(x, run(x, seed), errors);
    CHECK_MESSAGE(count.wrong == 0, count.wrong, " wrong elements of D: ", count.first);
    CHECK(count.elements > 0);
}

std::string refusal(const std::string& line, uint64_t workspace = uint64_t{1} << 30) {
    const auto parsed = vkgemm::plan::parse_problem(line + " accuracy=f64_split");
    REQUIRE(parsed);
    const auto plan = device().context().createPlan(parsed->problem, {.workspaceLimit = workspace});
    return plan ? "" : plan.status().text;
}

}  // namespace

TEST_SUITE_BEGIN("from int8");

TEST_CASE("f64_split: every bit, and errors within the bound, however exponents spread") {
    uint64_t seed = seed_or(1);
    for (const Values fill : finite_fills)
        for (const char* const line : {"f64*f64 9x17x200", "f64*f64 20x6x65 layout=tt", "f64*f64 40x50x1"})
            check({.line = line, .fill = fill}, ++seed, true);
}

TEST_CASE("f64_split: products as large as can be found again") {
    check({.line = "f64*f64 20x20x2 layout=nt", .fill = Values::pairs}, seed_or(2), true);
}

TEST_CASE("f64_split: a bare device gives the same bits") {
    for (const Values fill : {Values::phi_2, Values::subnormal, Values::special})
        check({.line = "f64*f64 9x21x130 alpha=-3 beta=0.7 c=separate", .fill = fill, .context = &bare()}, 7);
}

TEST_CASE("f64_split: infinities and NaN") {
    for (const char* const line : {"f64*f64 24x30x19", "f64*f64 24x30x19 layout=tn layout_d=t", "f64*f64 8x8x1"})
        check({.line = line, .fill = Values::special}, seed_or(3));
}

TEST_CASE("f64_split: layouts, leading dimensions, batches, C and factors") {
    for (const char* const line : {
             "f64*f64 13x9x70 layout=nt lda=77 ldb=91 ldd=10 beta=1",
             "f64*f64 13x9x70 layout=tn layout_d=t alpha=0.1 beta=-0.3 c=separate",
             "f64*f64 13x9x70 alpha=0 beta=0.3 c=d",
             "f64*f64 13x9x70 alpha=1e-320 beta=1e300 c=d",
             "f64*f64 6x7x33 batch=3 stride_b=0",
             "f64*f64 6x7x33 batch=4 ratio_b=2 outer=2 beta=2 c=d",
             "f64*f64 5x4x0 beta=3 c=d",
             "f64*f64 1x40x300",
             "f64*f64 40x1x300 layout=nt",
         })
        check({.line = line}, seed_or(5));
}

TEST_CASE("f64_split: slices of K, and each kernel's edges") {
    for (const char* const line : {"f64*f64 4x4x6000", "f64*f64 70x130x90"}) check({.line = line}, seed_or(9), true);
}

TEST_CASE("f64_split: operands that come packed, whose bytes serve on every device") {
    for (const Values fill : {Values::phi_2, Values::special})
        for (const char* const line :
             {"f64*f64 13x19x70 packed_b=any", "f64*f64 13x19x70 packed_a=any layout=tt layout_d=t lda=20 beta=1",
              "f64*f64 33x12x130 packed_a=any packed_b=any layout=nt ldb=140",
              "f64*f64 5x6x40 batch=3 stride_b=0 packed_b=any"})
            for (const vkgemm::Context* context : {&device().context(), &bare()})
                check({.line = line, .fill = fill, .context = context}, seed_or(17));
}

TEST_CASE("f64_split: K beyond the limit of its sums is cut into slices that add up in D") {
    for (const char* const line :
         {"f64*f64 2x3x131073", "f64*f64 3x2x262200 layout=tt alpha=0.3 beta=-0.7 c=separate batch=2"})
        check({.line = line, .fill = Values::phi_2}, seed_or(11));
}

TEST_CASE("f64_split: blocks of D where the workspace is small give the same bits") {
    check({.line = "f64*f64 300x40x33 layout=tn beta=1", .workspace = 270'000}, seed_or(13));
    check({.line = "f64*f64 30x500x33 layout_d=t batch=2", .workspace = 400'000}, seed_or(13));
}

TEST_CASE("f64_split: what it cannot do is refused with the limit") {
    CHECK(refusal("f64*f64 4x4x131073 invariant") ==
          "k is 131073, above the limit of 131072 for accuracy=f64_split with batchInvariant");
    CHECK(refusal("f32*f32 4x4x4").find("is for f64 throughout, not for f32") != std::string::npos);
    CHECK(refusal("f64*f64 4x4x4 act=relu").find("without an epilogue") != std::string::npos);
    CHECK(refusal("f64*f64 4x4x4 upto=m").find("upTo") != std::string::npos);
    CHECK(refusal("f64*f64 4x4x131073 packed_b=any").find("comes packed") != std::string::npos);
    CHECK(refusal("f64*f64 4x4x4 packed_b=0123456789abcdef").find("packed for another layout") != std::string::npos);
    CHECK(refusal("f64*f64 64x64x64", 1000).find("needs a workspace of ") != std::string::npos);
}
