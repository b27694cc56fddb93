// SPDX-License-Identifier: MIT
// Operands, tables and index lists of random groups, how the tests of grouped products run them, and what D becomes.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/rows.h"
#include "plan/base/concat.h"
#include "plan/problem/problem_text.h"
#include "support/guarded.h"
#include "support/keys.h"
#include "support/owned.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test {

using plan::Problem;

/// A buffer with these bytes.
inline host::Buffer uploaded(const void* bytes, size_t size) {
    auto made = device().createBuffer(std::max<size_t>(size, 4), host::Memory::host);
    REQUIRE_MESSAGE(bool(made), made.status().text);
    if (size) {
        const Status done = device().upload(*made, 0, std::span(static_cast<const std::byte*>(bytes), size));
        REQUIRE_MESSAGE(done.code == VKGEMM_SUCCESS, done.text);
    }
    return *made;
}

/// Plans the problem of some groups, and reads its keys back. "", or "no plan: " and why.
inline std::string make_plan(const VkgemmProblem& problem, const VkgemmPlanOptions& options, OwnedPlan& plan,
                             VkgemmPlanInfo& info) {
    VkgemmError error{};
    if (vkgemmCreatePlan(device().context().handle(), &problem, &options, &plan.handle, &error) != VKGEMM_SUCCESS)
        return std::string("no plan: ") + error.text;
    info = {};
    info.structSize = sizeof info;
    if (vkgemmGetPlanInfo(plan.handle, &info) != VKGEMM_SUCCESS) return "no plan info";
    return unread_keys(plan.handle);
}

/// Records and runs it. "" or what went wrong; `messages`: how many the validation layer had before.
inline std::string submitted(const OwnedPlan& plan, const VkgemmRun& run, size_t messages) {
    const Status done = device().submit([&](VkCommandBuffer commands) {
        VkgemmError why{};
        const VkgemmResult code = vkgemmRecord(plan.handle, commands, &run, &why);
        return Status{code, why.vkResult, why.text};
    });
    if (done.code != VKGEMM_SUCCESS) return "not run: " + done.text;
    return device().messageCount() > messages ? "validation: " + device().messages()[messages].text : "";
}

/// Calls `each` with the types, the name and a small tile of every kernel that takes groups and fits.
template <class Each>
void for_each_grouped(const Each& each) {
    size_t ran = 0;
    for (const plan::Kernel& k : plan::kernels()) {
        const plan::Module& m = k.module;
        if (!m.is_product() || !m.takes_groups() || !is_chosen(k) || !fits(k)) continue;
        if (is_quick() && ran++ % 8) continue;
        const VkgemmAccuracy accuracy = m.family.accuracy;
        const auto types = [&](plan::Type a, plan::Type b) {
            return typesText(a, b, m.accumulate, m.d == plan::scaled ? plan::f16 : m.d) +
                   (accuracy ? plan::concat({" accuracy=", plan::accuracy_name(accuracy), " "}) : " ");
        };
        const bool staged = m.family.reads_chunk64 && k.tile.STAGES > 1 && k.tile.DEPTH > 1;
        const char* const tile = m.family.name == "simt"      ? "WG=64,BM=32,BN=32,BK=8,WM=16,WN=32,TM=4,TN=4"
                                 : staged && k.tile.TEAM == 4 ? "WG=32,BN=8"
                                 : staged                     ? "WG=64,BN=8"  // 32 KiB hold these with q6_k
                                                              : nullptr;
        if (!m.is_mixed()) each(k, types(m.a, m.b), tile);
        if (m.is_mixed()) each(k, types(plan::f32, plan::f16), tile);
        if (m.is_mixed()) each(k, types(plan::f32, VKGEMM_TYPE_Q8_0), tile);
        if (m.family.reads_chunk64) each(k, types(plan::f16, VKGEMM_TYPE_Q6_K), tile);
    }
}

/// Words behind the types, for an accuracy, come after the sizes.
inline std::string line_of(std::string types, const char* sizes) {
    const size_t space = types.find(' ');
    return types.substr(0, space + 1) + sizes + types.substr(space);
}

inline constexpr uint64_t a_rows = 61;

/// The problem's operands, with rows for several groups.
struct Groups {
    Problem p;  // completed
    std::vector<VkgemmGroup> table;
    std::vector<uint32_t> indices;
    Guarded a, b, d;
    size_t astray = 0;  // by address: of so many groups A, B and D in turn begin 2 bytes later

    static Problem completed(const std::string& line) {
        const auto parsed = plan::parse_problem(line);
        REQUIRE_MESSAGE(bool(parsed), line);
        const auto p = plan::complete(parsed->problem);
        REQUIRE_MESSAGE(bool(p), line, ": ", p.status().text);
        return *p;
    }
    static bool is_indexed(const Problem& p) { return p.grouping == VKGEMM_GROUPING_INDEXED; }
    static uint64_t d_rows(const Problem& p) { return is_indexed(p) ? p.m : p.m * p.batch; }

    Groups(const std::string& line, uint64_t seed)
        : p(completed(line)),
          a(p.a.type, one(p.a, p), is_indexed(p) ? plan::rows_of_a(p) : a_rows, p.k, 1),
          b(p.b.type, p.b, p.k, p.n, p.batch),
          d(p.d.type, one(p.d, p), d_rows(p), p.n, 1),
          random_(seed) {
        for (Guarded* x : {&a, &b, &d}) x->fill([&] { return double(int64_t(random_() % 9) - 4); });
        if (is_indexed(p))
            choose_indices();
        else
            choose_rows();
    }

   private:
    // Column-major A and D have a leading dimension for all rows.
    static plan::Matrix one(plan::Matrix x, const Problem& p) {
        x.batchStride = 0;
        if (x.layout == plan::columnMajor) x.ld = std::max({x.ld, a_rows, d_rows(p)});
        return x;
    }
    uint64_t below(uint64_t n) { return random_() % n; }
    uint64_t along(const plan::Matrix& x, uint64_t ld, uint64_t row) const {
        return x.layout == plan::rowMajor ? row * ld : row;
    }

    // Every group some rows of A, which others may share, any B, and rows of D of its own.
    void choose_rows() {
        uint64_t row = 0;
        for (uint64_t i = 0; i < p.batch; ++i) {
            VkgemmGroup g{};
            g.m = uint32_t(i == 1 ? p.m : below(p.m + 1));
            g.n = uint32_t(below(p.n + 1));
            g.k = uint32_t(below(p.k + 1));
            if (i == 2) {
                g.m = UINT32_MAX;
                g.n = UINT32_MAX;
                g.k = UINT32_MAX;  // counts as the largest
            }
            if (p.a.layout == plan::columnMajor) g.lda = uint32_t(std::max(p.a.ld, std::max(a_rows, d_rows(p))));
            if (p.d.layout == plan::columnMajor) g.ldd = uint32_t(std::max(p.d.ld, std::max(a_rows, d_rows(p))));
            const uint64_t lda = g.lda ? g.lda : p.a.ld, ldd = g.ldd ? g.ldd : p.d.ld;
            const uint64_t grain = p.a.layout == plan::columnMajor ? 4 : 1;  // stays aligned if it was
            g.offsetA = along(p.a, lda, below(a_rows - p.m) / grain * grain);
            const uint32_t block = plan::info(p.b.type).block;
            uint64_t matrix = below(p.batch);
            if (block > 1 && p.grouping == VKGEMM_GROUPING_ADDRESSES) matrix -= matrix % 2;  // at multiples of 4 bytes
            g.offsetB = matrix * p.b.batchStride;
            g.offsetD = along(p.d, ldd, row);
            if (block > 1 && p.b.ld > p.k) g.ldb = uint32_t(p.b.ld - i % 2 * block);
            row += p.m;
            table.push_back(g);
        }
    }
    void choose_indices() {
        indices.resize(p.m);
        std::iota(indices.begin(), indices.end(), 0);
        std::shuffle(indices.begin(), indices.end(), random_);
        uint32_t first = 0;
        for (uint64_t i = 0; i < p.batch; ++i) {
            VkgemmGroup g{};
            g.firstIndex = first;
            g.m = uint32_t(i + 1 == p.batch ? p.m - first : below((p.m - first) / 2 + 1));
            g.offsetB = below(p.batch) * p.b.batchStride;
            first += g.m;
            table.push_back(g);
        }
    }

    std::mt19937_64 random_;
};

inline uint64_t at(const plan::Matrix& x, uint64_t ld, uint64_t row, uint64_t col) {
    return x.layout == plan::rowMajor ? row * ld + col : col * ld + row;
}

/// D after the groups were computed one after the other, in the order of its operand.
inline std::vector<double> expected(const Groups& g, double alpha, double beta) {
    const Problem& p = g.p;
    const std::vector<double> a = g.a.numbers(), b = g.b.numbers();
    std::vector<double> d = g.d.numbers();
    for (const VkgemmGroup& x : g.table) {
        const auto own = [&](uint32_t bit, uint32_t size, uint64_t most) {
            return p.upTo & bit ? std::min<uint64_t>(size, most) : most;
        };
        uint64_t m = own(VKGEMM_UP_TO_M, x.m, p.m);
        const uint64_t n = own(VKGEMM_UP_TO_N, x.n, p.n), k = own(VKGEMM_UP_TO_K, x.k, p.k);
        if (Groups::is_indexed(p))
            m = std::min<uint64_t>(m, g.indices.size() - std::min<size_t>(x.firstIndex, g.indices.size()));
        for (uint64_t i = 0; i < m; ++i)
            for (uint64_t j = 0; j < n; ++j) {
                const uint64_t to = Groups::is_indexed(p) ? g.indices[x.firstIndex + i] : i;
                const uint64_t from = Groups::is_indexed(p) ? to / p.indicesPerRow : i;
                if (Groups::is_indexed(p) && to >= p.m) continue;
                double sum = 0;
                for (uint64_t q = 0; q < (alpha == 0 ? 0 : k); ++q)
                    sum += a[x.offsetA + at(p.a, x.lda ? x.lda : p.a.ld, from, q)] *
                           b[x.offsetB + at(p.b, x.ldb ? x.ldb : p.b.ld, q, j)];
                double& value = d[x.offsetD + at(p.d, x.ldd ? x.ldd : p.d.ld, to, j)];
                value = rounded(p.d.type, alpha * sum + beta * value);
            }
    }
    return d;
}

}  // namespace vkgemm::test
