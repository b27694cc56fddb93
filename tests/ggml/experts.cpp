// SPDX-License-Identifier: MIT
// MUL_MAT_ID through the adapter: random experts, beside a plain product over the strides.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "ggml/run.h"
#include "support/numbers.h"

namespace vkgemm::test {
namespace {

using ggml::MulMat;
using ggml::Reason;

constexpr uint32_t no_expert = 0xffffffff;

struct Mixture {
    Filled w, y, d, ids;
    std::vector<uint32_t> chosen;  // slot by slot, token by token; a number that is no expert's leaves dst as it is
    bool is_rounding = false;
    MulMat product() const {
        return {.src0 = w.tensor, .src1 = y.tensor, .dst = d.tensor, .ids = &ids.tensor, .is_rounding = is_rounding};
    }
};

Lie with_gap(Random& random, size_t dimension, uint64_t most) {
    Lie lie;
    if (random.one_in(3)) lie.gap[dimension] = random.below(most);
    return lie;
}

Mixture any_mixture(Random& random) {
    constexpr Type types[] = {f32, f16, bf16, q8_0, q4_k};
    const Type type = types[random.below(std::size(types))];
    const uint64_t block = blockElements(type);
    const uint64_t k = block > 1          ? block * (1 + random.below(2))
                       : random.one_in(2) ? 8 + 8 * random.below(5)
                                          : 1 + random.below(40);
    const uint64_t m = 1 + random.below(20), experts = 1 + random.below(9);
    const uint64_t tokens = random.one_in(4) ? 1 : 1 + random.below(40);
    const uint64_t slots = 1 + random.below(std::min<uint64_t>(experts, 4));
    const Buffers& b = buffers();
    // Gaps between matrices of experts and between rows: both are views that an index list can state. ids is often a
    // view of the first slots of a sorted list.
    Mixture x{.w = Filled(type, {k, m, experts, 1}, {}, b.w.handle()),
              .y = Filled(f32, {k, random.one_in(2) ? 1 : slots, tokens, 1}, with_gap(random, 1, 4), b.y.handle()),
              .d = Filled(f32, {m, slots, tokens, 1}, {}, b.d.handle()),
              .ids = Filled(f32, {slots, tokens, 1, 1}, with_gap(random, 1, 5), b.ids.handle()),
              .chosen = {},
              .is_rounding = random.one_in(2)};
    x.w.fill(random);
    x.y.fill(random);
    std::vector<uint32_t> all(experts);
    std::iota(all.begin(), all.end(), 0);
    for (uint64_t t = 0; t < tokens; ++t) {
        for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
        for (uint64_t s = 0; s < slots; ++s) {
            const uint32_t id = random.one_in(40) ? no_expert : all[s];
            x.chosen.push_back(id);
            std::memcpy(&x.ids.bytes[x.ids.at(s, t, 0, 0)], &id, sizeof id);
        }
    }
    return x;
}

std::vector<std::byte> expected_of(const Mixture& x) {
    std::vector<std::byte> out = x.d.bytes;
    const auto &w = x.w.tensor.ne, &y = x.y.tensor.ne, &d = x.d.tensor.ne;
    const std::vector<double> weights = x.w.numbers(), rows = x.y.numbers();
    for (uint64_t t = 0; t < d[2]; ++t)
        for (uint64_t s = 0; s < d[1]; ++s) {
            const uint32_t expert = x.chosen[t * d[1] + s];
            if (expert >= w[2]) continue;
            for (uint64_t m = 0; m < d[0]; ++m) {
                const double* a = &weights[(expert * w[1] + m) * w[0]];
                const double* b = &rows[(t * y[1] + (y[1] == 1 ? 0 : s)) * w[0]];
                encode(f32, std::inner_product(a, a + w[0], b, 0.0), &out[x.d.at(m, s, t, 0)]);
            }
        }
    return out;
}

bool is_mixture_allowed(Reason reason, const MulMat& x) {
    if (reason == Reason::SERVED) return true;
    return reason == Reason::ALIGNMENT && x.src0.type != x.src1.type && x.src0.nb[2] % 4 != 0;
}

}  // namespace

TEST_CASE("random tensors: MUL_MAT_ID") {
    const uint64_t cases = std::getenv("VKGEMM_TESTS_QUICK") ? 40 : 200;
    std::map<Reason, uint64_t> seen;
    uint64_t rounded = 0, of_one_token = 0;
    for (uint64_t seed = 1; seed <= cases; ++seed) {
        Random random(seed);
        const Mixture x = any_mixture(random);
        const Buffers& b = buffers();
        put(b.w, x.w);
        put(b.y, x.y);
        put(b.d, x.d);
        put(b.ids, x.ids);
        Reason reason{};
        const std::string wrong = run(x.product(), expected_of(x), reason);
        CHECK_MESSAGE(wrong == "", "seed ", seed, ": ", wrong, ";", text_of(x.product()));
        CHECK_MESSAGE(is_mixture_allowed(reason, x.product()), "seed ", seed, ": ", std::string(ggml::text_of(reason)),
                      ";", text_of(x.product()));
        ++seen[reason];
        ggml::Work work;
        const bool is_served = adapter().prepare(x.product(), work) == Reason::SERVED;
        rounded += is_served && work.products.rounded_rows != 0;
        of_one_token += is_served && x.d.tensor.ne[2] == 1;
    }
    for (const auto& [reason, count] : seen) MESSAGE(count, " of ", cases, ": ", std::string(ggml::text_of(reason)));
    CHECK(seen[Reason::SERVED] * 10 > cases * 7);
    CHECK(rounded * 20 > cases);
    CHECK(of_one_token * 20 > cases);
}

}  // namespace vkgemm::test
