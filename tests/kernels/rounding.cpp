// SPDX-License-Identifier: MIT
// Quantised products with a D of 16 bits: the sum, which f32 holds, is rounded to D's type once, to the nearest and, in
// the middle, to the even one.
#include <doctest/doctest.h>

#include <set>

#include "kernels/groups.h"

namespace vkgemm::test {
namespace {

using plan::Kernel;

constexpr uint64_t depth = 64, columns = 64;

/// The neighbours of numbers of D's type, and the middles between them, as sums of i8 products; of both signs.
std::vector<int> sums_for(plan::Type d) {
    static const std::vector<int> of_f16 = {2047, 2049, 2050,  2051,  4098,  4099,  4101,  4102,  4103,  8196,  8197,
                                            8203, 8204, 32783, 32784, 32785, 65504, 65519, 65520, 65521, 131008},
                                  of_bf16 = {255,  257,  258,  259,   514,   515,   517,   518,   519,  1028,
                                             1029, 1035, 1036, 65791, 65792, 65793, 66303, 66304, 66305};
    std::vector<int> out;
    for (const int x : d == plan::f16 ? of_f16 : of_bf16) {
        out.push_back(x);
        out.push_back(-x);
    }
    return out;
}

/// Runs a product whose row i has the sum sums[i] in every column. "" or what went wrong.
std::string round_sums(const Kernel& kernel, plan::Type type, const char* tile) {
    const size_t messages = device().messageCount();
    const std::vector<int> sums = sums_for(type);
    const std::string line =
        plan::concat({"i8*i8+i32->", plan::info(type).name, " ", sums.size(), "x", columns, "x", depth, " layout=nt"});
    const Problem p = Groups::completed(line);
    // A row of A is the sum's digits: the first counts 1, the others count 127.
    std::vector<int8_t> a(sums.size() * depth), b(columns * depth, 127);
    for (size_t i = 0; i < columns; ++i) b[i * depth] = 1;
    for (size_t i = 0; i < sums.size(); ++i) {
        a[i * depth] = static_cast<int8_t>(sums[i] % 127);
        int rest = sums[i] / 127;
        for (size_t q = 1; rest; ++q) {
            REQUIRE(q < depth);
            a[i * depth + q] = static_cast<int8_t>(std::clamp(rest, -127, 127));
            rest -= a[i * depth + q];
        }
    }
    const VkgemmProblem problem = convert::toC(plan::restated(p));
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.kernel = kernel.name.data();
    options.tile = tile;
    OwnedPlan plan;
    VkgemmError error{};
    if (vkgemmCreatePlan(device().context().handle(), &problem, &options, &plan.handle, &error) != VKGEMM_SUCCESS)
        return std::string("no plan: ") + error.text;
    std::vector<std::byte> d(sums.size() * columns * 2, std::byte{0x5a});
    const host::Buffer in_a = uploaded(a.data(), a.size()), in_b = uploaded(b.data(), b.size()),
                       out = uploaded(d.data(), d.size());
    VkgemmRun r{};
    r.structSize = sizeof r;
    r.a.buffer = in_a.handle();
    r.b.buffer = in_b.handle();
    r.d.buffer = out.handle();
    if (const std::string why = submitted(plan, r, messages); !why.empty()) return why;
    REQUIRE(device().download(out, d).code == VKGEMM_SUCCESS);
    for (size_t i = 0; i < sums.size(); ++i)
        for (size_t j = 0; j < columns; ++j) {
            const double got = decode(type, &d[(i * columns + j) * 2]), want = rounded(type, sums[i]);
            if (got != want)
                return plan::concat(
                    {sums[i], " in column ", j, " became ", numberText(got), " and should be ", numberText(want)});
        }
    return "";
}

}  // namespace

TEST_SUITE_BEGIN("formats");

TEST_CASE("quantised products round to 16 bits once, to the nearest and to even") {
    std::set<std::string_view> modules;
    size_t right = 0;
    for (const Kernel& k : plan::kernels()) {
        const plan::Module& m = k.module;
        if (!m.is_product() || m.a != plan::i8 || m.b != plan::i8 || m.d != plan::scaled) continue;
        if (!is_chosen(k) || !fits(k) || !modules.insert(m.name).second) continue;  // one tile of each module
        for (const plan::Type type : {plan::f16, plan::bf16}) {
            const std::string why = round_sums(k, type, small_tile(k));
            CHECK_MESSAGE(why.empty(), k.name, " ", plan::info(type).name, ": ", why);
            right += why.empty();
        }
    }
    if (!modules.empty()) CHECK(right > 0);
}

TEST_SUITE_END();

}  // namespace vkgemm::test
