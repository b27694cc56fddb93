// SPDX-License-Identifier: MIT
// Random tensors of ggml through the adapter, beside a plain product over their strides. What the adapter leaves to
// ggml must have a reason that can be read off the tensors.
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

constexpr Type formats[] = {q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k, iq4_nl, mxfp4, nvfp4};
constexpr Type floats[] = {f32, f16, bf16};

/// A product with all that its memory holds.
struct Case {
    Filled w, y, d;
    bool is_precise = false;
    std::vector<Filled> added{};
    MulMat product() const {
        MulMat out{.src0 = w.tensor, .src1 = y.tensor, .dst = d.tensor, .is_precise = is_precise};
        for (const Filled& f : added) out.fused[out.fused_count++] = f.tensor;
        return out;
    }
};

Lie any_lie(Random& random, bool blocks, uint64_t unit, bool plain) {
    Lie lie;
    if (!plain && random.one_in(3)) {  // blocks lie along dimension 0, which stays the innermost
        for (size_t i = 3; i > (blocks ? 1u : 0u); --i) {
            const size_t low = blocks ? 1 : 0;
            std::swap(lie.order[i], lie.order[low + random.below(i - low + 1)]);
        }
    }
    if (!plain && random.one_in(2))
        for (uint64_t& gap : lie.gap) gap = random.below(4);
    if (random.one_in(4)) lie.offset += random.below(32) * std::max<uint64_t>(unit, 2);
    return lie;
}

/// One or two tensors that are added to the product. The first may be what dst held before.
void add_any(Random& random, const Lie& d, Case& x) {
    const Buffers& b = buffers();
    for (uint64_t i = 0, count = 1 + random.below(2); i < count; ++i) {
        if (i == 0 && random.one_in(3)) {
            x.d.fill(random);
            x.added.push_back(x.d);
            continue;
        }
        Lie lie = random.one_in(6) ? any_lie(random, false, 4, false) : d;
        lie.offset = 1024 + 4 * random.below(16);
        x.added.emplace_back(f32, x.d.tensor.ne, lie, b.added[i].handle()).fill(random);
    }
}

Case any_case(Random& random, bool blocks) {
    const Type wt = blocks ? formats[random.below(std::size(formats))] : floats[random.below(3)];
    // Each pair of types has pipelines of its own, which lavapipe takes long to compile.
    const Type yt = (!blocks || wt == q8_0) && random.one_in(4) ? floats[random.below(3)] : f32;
    const uint64_t block = blockElements(wt),
                   k = blocks ? block * (1 + random.below(block > 100 ? 1 : 3)) : 1 + random.below(40);
    const uint64_t m = 1 + random.below(20), n = random.one_in(3) ? 1 : 1 + random.below(9);
    const uint64_t w2 = 1 + random.below(3), w3 = 1 + random.below(2), r2 = 1 + random.below(3),
                   r3 = 1 + random.below(2);
    const Buffers& b = buffers();
    const Lie y = any_lie(random, false, bytesOf(yt), random.one_in(3)),
              d = any_lie(random, false, 4, !random.one_in(4));
    Case out{.w = Filled(wt, {k, m, w2, w3}, any_lie(random, blocks, bytesOf(wt), random.one_in(3)), b.w.handle()),
             .y = Filled(yt, {k, n, w2 * r2, w3 * r3}, y, b.y.handle()),
             .d = Filled(f32, {m, n, w2 * r2, w3 * r3}, d, b.d.handle()),
             .is_precise = random.one_in(4)};
    out.w.fill(random);
    out.y.fill(random);
    if (random.one_in(3)) add_any(random, d, out);
    return out;
}

std::vector<std::byte> expected(const Case& x) {
    std::vector<std::byte> out = x.d.bytes;
    const auto &d = x.d.tensor.ne, &w = x.w.tensor.ne;
    const uint64_t r2 = d[2] / w[2], r3 = d[3] / w[3], k = w[0];
    const std::vector<double> weights = x.w.numbers(), rows = x.y.numbers();
    std::vector<std::vector<double>> added;
    for (const Filled& f : x.added) added.push_back(f.numbers());
    for (uint64_t i3 = 0; i3 < d[3]; ++i3)
        for (uint64_t i2 = 0; i2 < d[2]; ++i2)
            for (uint64_t n = 0; n < d[1]; ++n)
                for (uint64_t m = 0; m < d[0]; ++m) {
                    const double* a = &weights[(((i3 / r3) * w[2] + i2 / r2) * w[1] + m) * k];
                    const double* b = &rows[((i3 * d[2] + i2) * d[1] + n) * k];
                    double sum = std::inner_product(a, a + k, b, 0.0);
                    for (const auto& f : added) sum += f[((i3 * d[2] + i2) * d[1] + n) * d[0] + m];
                    encode(f32, sum, &out[x.d.at(m, n, i2, i3)]);
                }
    return out;
}

/// Whether neither of the dimensions 0 and 1 is contiguous, or the rows along the contiguous one overlap others'.
bool is_scattered(const ggml::Tensor& x) {
    const uint64_t unit = bytesOf(x.type);
    return !(x.nb[0] == unit || x.ne[0] == 1 || x.nb[1] == unit || x.ne[1] == 1);
}
bool is_in_words(const ggml::Tensor& x) {
    return x.offset % 4 == 0 && std::ranges::all_of(x.nb, [&](uint64_t n) { return n % 4 == 0; });
}

bool is_one_row(const ggml::Tensor& x) { return x.ne[1] * x.ne[2] * x.ne[3] == 1 && (x.nb[0] == 4 || x.ne[0] == 1); }
bool is_placed_alike(const MulMat& x) {
    for (uint32_t i = 0; i < x.fused_count; ++i)
        for (size_t j = 0; j < 4; ++j)
            if (x.dst.ne[j] > 1 && x.fused[i].nb[j] != x.dst.nb[j]) return false;
    return true;
}

/// Whether the reason can be read off the tensors.
bool is_allowed(Reason reason, const MulMat& x) {
    switch (reason) {
        case Reason::SERVED:
            return true;
        case Reason::STRIDES:
            return is_scattered(x.src0) || is_scattered(x.src1) || is_scattered(x.dst);
        case Reason::ALIGNMENT:
            return x.src0.type != x.src1.type && !(is_in_words(x.src0) && is_in_words(x.src1));
        case Reason::FUSED:
            return (x.fused_count > 1 && !is_one_row(x.dst)) || !is_placed_alike(x);
        default:
            return false;
    }
}

void multiply_any(uint64_t cases, bool blocks) {
    if (std::getenv("VKGEMM_TESTS_QUICK")) cases /= 8;  // as test_kernels does
    std::map<Reason, uint64_t> seen;
    uint64_t with_added = 0;
    for (uint64_t seed = 1; seed <= cases; ++seed) {
        Random random(seed);
        const Case x = any_case(random, blocks);
        const Buffers& b = buffers();
        put(b.w, x.w);
        put(b.y, x.y);
        put(b.d, x.d);
        for (size_t i = 0; i < x.added.size(); ++i) put(b.added[i], x.added[i]);
        Reason reason{};
        const std::string wrong = run(x.product(), expected(x), reason);
        CHECK_MESSAGE(wrong == "", "seed ", seed, ": ", wrong, ";", text_of(x.product()));
        CHECK_MESSAGE(is_allowed(reason, x.product()), "seed ", seed, ": ", ggml::text_of(reason), ";",
                      text_of(x.product()));
        ++seen[reason];
        with_added += reason == Reason::SERVED && !x.added.empty();
    }
    for (const auto& [reason, count] : seen) MESSAGE(count, " of ", cases, ": ", std::string(ggml::text_of(reason)));
    CHECK(seen[Reason::SERVED] * 10 > cases * 6);
    CHECK(seen[Reason::STRIDES] > 0);
    CHECK(seen[Reason::ALIGNMENT] > 0);
    CHECK(seen[Reason::FUSED] > 0);
    CHECK(with_added * 20 > cases);
}

}  // namespace

TEST_CASE("random tensors: MUL_MAT of floats") { multiply_any(1800, false); }

TEST_CASE("random tensors: MUL_MAT of block formats") { multiply_any(1200, true); }

}  // namespace vkgemm::test
