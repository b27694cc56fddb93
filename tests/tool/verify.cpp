// SPDX-License-Identifier: MIT
// The check of a result: right ones pass, and each way of being wrong is found and named.
#include "tools/vkgemm/measure/verify.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "support/string_util.h"
#include "tools/vkgemm/measure/numbers.h"

using namespace vkgemm::tool;
using vkgemm::test::has_words;

namespace {

std::vector<double> decoded(const ExactCase& exact, VkgemmSlot slot, const MatrixInfo& m) {
    const auto bytes = exact.bytes(slot);
    std::vector<double> out(m.span);
    for (size_t i = 0; i < out.size(); ++i)
        out[i] = vkgemm::decodeElement(m.type, &bytes[m.bytes_of(i / m.block * m.block)], i % m.block);
    return out;
}

/// What a kernel that sums up the k that `takes` makes of a case without epilogue. All of them: a right one.
template <class Takes>
std::vector<std::byte> result_of(const ExactCase& exact, const Takes& takes) {
    const Resolved& r = exact.matrices();
    const MatrixInfo &a = r.a, &b = r.b, &c = r.c, &d = r.d;
    const auto va = decoded(exact, VKGEMM_SLOT_A, a), vb = decoded(exact, VKGEMM_SLOT_B, b);
    std::vector<std::byte> out = exact.bytes(VKGEMM_SLOT_D);
    std::vector<float> sums(b.cols);
    for (uint64_t batch = 0; batch < r.batch; ++batch)
        for (uint64_t row = 0; row < d.rows; ++row) {
            if (!r.is_in(batch, row)) continue;
            std::fill(sums.begin(), sums.end(), 0.0f);
            for (uint64_t k = 0; k < a.cols; ++k) {
                if (!takes(k)) continue;
                const auto left = static_cast<float>(va[a.position(batch, row / r.indices_per_row, k)]);
                for (uint64_t col = 0; col < d.cols; ++col)
                    sums[col] += left * static_cast<float>(vb[b.position(batch, k, col)]);
            }
            for (uint64_t col = 0; col < d.cols; ++col) {
                std::byte* const element = &out[d.position(batch, row, col) * d.bytes];
                const double before = c.span ? decode(d.type, element) : 0;  // C is D
                encode(d.type, exact.alpha() * static_cast<double>(sums[col]) + exact.beta() * before, element);
            }
        }
    return out;
}
std::vector<std::byte> right_result(const ExactCase& exact) {
    return result_of(exact, [](uint64_t) { return true; });
}

}  // namespace

TEST_CASE("what is right passes; an element that is wrong, was never written, or lies in a gap does not") {
    for (const char* line :
         {"33x47x65", "f16*f16 33x47x65 layout=tn", "bf16*bf16+f32->f32 9x70x33 batch=3 layout=nt", "i8*i8 33x47x65",
          "f16*f16 17x19x23 batch=2 layout_d=t", "40x30x20 ldd=37", "24x30x20 beta=1", "24x30x20 alpha=0 beta=1",
          "520x520x520 alpha=0 beta=1", "f16*f16 520x520x520 layout=tt", "u8*u8 600x500x512 layout_d=t",
          "42x30x20 batch=6 groups=indexed per_row=4 upto=m", "9x30x20 batch=3 groups=table upto=mn beta=1",
          "f16*f16 600x520x520 batch=5 groups=indexed per_row=8 upto=m layout=nt",
          "f16*f16 3x70x60 batch=5 groups=selected layout=nt"}) {
        CAPTURE(line);
        const auto c = parse_case(line);
        REQUIRE(c);
        const ExactCase exact(*c);
        const MatrixInfo& d = exact.matrices().d;
        const std::vector<std::byte> right = right_result(exact);
        CHECK(exact.verify(right).wrong == "");
        CHECK((exact.verify(right).extent == ExactCase::Extent::projected) == (c->problem.k > 500));

        const size_t at = d.position(exact.matrices().batch - 1, d.rows / 2, d.cols / 3) * d.bytes;
        const std::string where = "D[" + std::to_string(d.rows / 2) + "][" + std::to_string(d.cols / 3) + "]";
        std::vector<std::byte> wrong = right;
        encode(d.type, decode(d.type, &right[at]) + 1, &wrong[at]);
        CHECK_MESSAGE(has_words(exact.verify(wrong).wrong, where, "should be"), exact.verify(wrong).wrong);
        const uint32_t word = poison(d.type);
        std::memcpy(&wrong[at], &word, d.bytes);
        if (c->problem.cSource == VKGEMM_C_NONE)
            CHECK_MESSAGE(has_words(exact.verify(wrong).wrong, where, "never written"), exact.verify(wrong).wrong);
        else
            CHECK(exact.verify(wrong).wrong != "");
    }
    for (const char* line : {"iq4_nl*iq4_nl+f32->f16 3x5x2304 layout=nt", "u8*iq4_nl+f32->f16 3x5x2304 layout=nt"}) {
        const ExactCase both(*parse_case(line));  // which cannot take back
        CHECK(both.verify(right_result(both)).wrong == "");
    }
    for (const char* line : {"8x8x8 alpha=0", "8x8x8 alpha=-0"}) CHECK(ExactCase(*parse_case(line)).alpha() == 0);
    const ExactCase exact(*parse_case("40x30x20 ldd=37"));
    std::vector<std::byte> gap = right_result(exact);
    std::memset(&gap[33 * 4], 0, 4);
    CHECK(has_words(exact.verify(gap).wrong, "gap", "element 33"));
}

TEST_CASE("sums are exact in any order, and whoever leaves some k out is found") {
    for (const char* line :
         {"bf16*bf16 64x16x768", "bf16*bf16 32x16x4096", "bf16*bf16 1x16x4096", "bf16*bf16 16x1x4097",
          "f16*f16 24x16x1536", "f16*f16 16x16x5120 layout=tn", "f16*f16 1x1x12288", "f16*f16+f16->f16 64x64x4096",
          "f16*f16 3x5x1601 batch=3 stride_b=0", "f16*f16 16x16x128 batch=2 beta=1", "bf16*bf16 9x17x300 bias=row",
          "f32*f32 1x1x65536", "u8*u8+i32->u8 64x64x300", "i8*i8 16x16x4096", "f16*iq4_nl 1x70x2304 layout=nt",
          "iq4_nl*f16 3x7x2304", "bf16*iq4_nl 3x5x768 layout=nt bias=row", "f16*mxfp4 2x5x4096 layout=nt"}) {
        CAPTURE(line);
        const auto c = parse_case(line);
        REQUIRE(c);
        const ExactCase exact(*c);
        const uint64_t k = c->problem.k;
        const auto& r = exact.matrices();
        const bool plain = std::string_view(line).find("bias") == std::string_view::npos;
        if (plain) {
            CHECK(exact.verify(right_result(exact)).wrong == "");
            const std::pair<uint64_t, uint64_t> parts[] = {{1, k}, {0, k - 1}, {0, k - k / 40}, {0, k / 2}, {k / 4, k}};
            for (const auto& part : parts) {
                CAPTURE(part.first);
                CAPTURE(part.second);
                const auto takes = [part](uint64_t i) { return i >= part.first && i < part.second; };
                CHECK(exact.verify(result_of(exact, takes)).wrong != "");
            }
            if (std::string_view(line).find("u8") != std::string_view::npos) continue;
            for (const uint64_t lanes : {uint64_t{4}, uint64_t{32},
                                         uint64_t{64}})  // one of those that share k, one or eight neighbours at a time
                for (const uint64_t piece : {uint64_t{1}, uint64_t{8}})
                    for (const uint64_t lost : {uint64_t{0}, uint64_t{1}, lanes - 1}) {
                        CAPTURE(lanes);
                        CAPTURE(piece);
                        CAPTURE(lost);
                        const auto takes = [=](uint64_t i) { return i / piece % lanes != lost; };
                        CHECK((k <= lost * piece || exact.verify(result_of(exact, takes)).wrong != ""));
                    }
        }
        const auto a = decoded(exact, VKGEMM_SLOT_A, r.a), b = decoded(exact, VKGEMM_SLOT_B, r.b);
        double most = 0, most_terms = 0;
        for (uint64_t batch = 0; batch < r.batch; ++batch)
            for (uint64_t row = 0; row < r.a.rows; ++row)
                for (uint64_t col = 0; col < r.b.cols; ++col) {
                    double sum = 0, terms = 0;
                    for (uint64_t i = 0; i < k; ++i) {
                        const double term = a[r.a.position(batch, row, i)] * b[r.b.position(batch, i, col)];
                        sum += term;
                        terms += std::abs(term);
                    }
                    most = std::max(most, std::abs(sum));
                    most_terms = std::max(most_terms, terms);
                }
        CHECK(most_terms <= std::ldexp(1.0, static_cast<int>(type_info(r.accumulate).exactBits)));
        CHECK((2 * most + 9) * (plain ? 1 : 4) <= std::ldexp(1.0, static_cast<int>(type_info(r.d.type).exactBits)));
        CHECK(most > 0);
    }
}

TEST_CASE("a library that may round is judged by a tolerance, and a gross error is still found") {
    for (const char* line : {"bf16*bf16 9x7x2001", "f16*f16 9x7x20001", "bf16*bf16 400x300x1200"}) {
        CAPTURE(std::string(line));
        const auto c = parse_case(line);
        REQUIRE(c);
        const ExactCase exact(*c);
        const MatrixInfo& d = exact.matrices().d;
        const std::vector<std::byte> right = right_result(exact);
        CHECK((exact.verify_rounded(right).wrong.empty() && exact.verify_rounded(right).rounded.empty()));
        const size_t at = d.position(0, d.rows / 2, d.cols / 3) * d.bytes;
        const auto off_by = [&](double by) {
            std::vector<std::byte> changed = right;
            encode(d.type, decode(d.type, &right[at]) + by, &changed[at]);
            return exact.verify_rounded(changed);
        };
        const std::string where = "D[" + std::to_string(d.rows / 2) + "][" + std::to_string(d.cols / 3) + "]";
        CHECK(off_by(1).wrong == "");
        CHECK_MESSAGE(has_words(off_by(1).rounded, where, "should be"), off_by(1).rounded);
        const double all = static_cast<double>(2 * c->problem.k) * 4;  // more than all products together may be
        CHECK_MESSAGE(has_words(off_by(all).wrong, where, "give or take"), off_by(all).wrong);
        std::vector<std::byte> unwritten = right;
        const uint32_t word = poison(d.type);
        std::memcpy(&unwritten[at], &word, d.bytes);
        CHECK(has_words(exact.verify_rounded(unwritten).wrong, where, "never written"));
    }
    const ExactCase whole(*parse_case("i32*i32 8x8x600"));
    std::vector<std::byte> off = right_result(whole);
    off[0] ^= std::byte{1};
    CHECK(whole.verify_rounded(off).wrong != "");
}
