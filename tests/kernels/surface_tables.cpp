// SPDX-License-Identifier: MIT
#include "kernels/surface_tables.h"

#include <algorithm>
#include <numeric>

#include "vkgemm/rounding.hpp"

namespace vkgemm::test {
namespace {

using plan::Matrix;
using plan::Problem;

class TableDraw {
   public:
    TableDraw(Random& random, const Case& x, const Problem& p, const VkgemmPlanInfo& plan)
        : random_(random), x_(x), p_(p), indexed_(p.grouping == VKGEMM_GROUPING_INDEXED) {
        const Matrix* const all[] = {&p.a, &p.b, &p.c, &p.d};
        for (size_t i = 0; i < 4; ++i) {
            const plan::TypeInfo& t = plan::info(all[i]->type);
            const uint64_t bytes = std::max(plan.groupAlignment[i], 1u);
            unit_[i] = t.block * (bytes / std::gcd(bytes, uint64_t{t.bytes}));
            least_[i] = roundUp((plan.requiredBytes[i] + t.bytes - 1) / t.bytes * t.block, uint64_t{t.block});
            can_misalign_[i] = bytes > 1 && (unit_[i] > 1 || p.grouping == VKGEMM_GROUPING_ADDRESSES);
        }
        has_c_ = p.cSource == VKGEMM_C_SEPARATE;
    }

    DrawnTable operator()() {
        if (indexed_) draw_indices();
        for (uint64_t i = 0; i < p_.batch; ++i) out_.groups.push_back(some_group(i));
        for (size_t i = 0; i < 4; ++i) out_.elements[i] = std::max(next_[i], least_[i]);
        if (x_.broken)
            for (DrawnGroup& g : out_.groups)
                if (random_.one_in(3)) break_one_rule(g);
        return std::move(out_);
    }

   private:
    /// A size of its own, now and then above the bound, or the problem's.
    uint64_t size(uint32_t bit, uint64_t most, uint32_t& given) {
        given = static_cast<uint32_t>(random_.below(1000));  // ignored where the size does not vary
        if (!(p_.upTo & bit)) return most;
        given = random_.one_in(12) ? 0 : static_cast<uint32_t>(random_.below(most + 1));
        if (random_.one_in(10)) given = random_.one_in(2) ? UINT32_MAX : static_cast<uint32_t>(most + 1);
        return std::min<uint64_t>(given, most);
    }

    void draw_indices() {
        out_.indices.resize(p_.m);
        std::iota(out_.indices.begin(), out_.indices.end(), 0);
        for (size_t i = out_.indices.size(); i > 1; --i) std::swap(out_.indices[i - 1], out_.indices[random_.below(i)]);
        if (x_.broken && !out_.indices.empty())  // which are left out, but count for no group
            out_.indices[random_.below(out_.indices.size())] =
                static_cast<uint32_t>(random_.one_in(2) ? p_.m : UINT32_MAX);
    }

    DrawnGroup some_group(uint64_t i) {
        DrawnGroup g;
        g.m = size(VKGEMM_UP_TO_M, p_.m, g.given.m);
        g.n = size(VKGEMM_UP_TO_N, p_.n, g.given.n);
        g.k = size(VKGEMM_UP_TO_K, p_.k, g.given.k);
        if (plan::info(p_.a.type).block > 1 || plan::info(p_.b.type).block > 1) g.k = whole_blocks(g);
        if (indexed_) take_indices(g, i + 1 == p_.batch);
        const uint64_t a_rows = indexed_ ? plan::rows_of_a(p_) : g.m, d_rows = indexed_ ? p_.m : g.m;
        g.at[0] = place(0, p_.a, a_rows, g.k, g.given.lda, g.given.offsetA, true);
        g.at[1] = place(1, p_.b, g.k, g.n, g.given.ldb, g.given.offsetB, true);
        if (indexed_ && i > 0) {
            share_rows_of_d(g);
            return g;
        }
        // The rows of D that an index list names are anywhere, so all groups have one D, as wide as any of them needs.
        const uint64_t d_cols = indexed_ ? p_.n : g.n;
        if (has_c_) g.at[2] = place(2, p_.c, d_rows, d_cols, g.given.ldc, g.given.offsetC, false);
        g.at[3] = place(3, p_.d, d_rows, d_cols, g.given.ldd, g.given.offsetD, false);
        g.at[2].cols = g.at[3].cols = g.n;
        if (!indexed_) g.at[2].rows = g.at[3].rows = g.m;
        return g;
    }

    void share_rows_of_d(DrawnGroup& g) {
        const DrawnGroup& first = out_.groups[0];
        g.given.ldc = first.given.ldc;
        g.given.ldd = first.given.ldd;
        g.given.offsetC = first.given.offsetC;
        g.given.offsetD = first.given.offsetD;
        for (const size_t x : {size_t{2}, size_t{3}}) {
            g.at[x] = first.at[x];
            g.at[x].cols = g.n;
        }
    }

    uint64_t whole_blocks(DrawnGroup& g) const {
        const uint64_t block = std::max(plan::info(p_.a.type).block, plan::info(p_.b.type).block);
        g.given.k = static_cast<uint32_t>(g.k / block * block);
        return p_.upTo & VKGEMM_UP_TO_K ? g.given.k : g.k;
    }

    void take_indices(DrawnGroup& g, bool last) {
        const uint64_t left = p_.m - first_index_;
        g.given.firstIndex = static_cast<uint32_t>(first_index_);
        g.m = last ? left : random_.below(left / 2 + 1);
        g.given.m = static_cast<uint32_t>(g.m);
        first_index_ += g.m;
    }

    /// A leading dimension, and room behind the matrices before it, or for an operand that is only read on one of them.
    GroupPlace place(size_t x, const Matrix& m, uint64_t rows, uint64_t cols, uint32_t& ld, uint64_t& offset,
                     bool may_share) {
        GroupPlace out{.rows = rows, .cols = cols, .layout = m.layout};
        if (!random_.one_in(3)) {
            const uint64_t some = roundUp(std::max<uint64_t>(out.length(), 1) + random_.below(7), unit_[x]);
            ld = static_cast<uint32_t>(some);
        }
        out.ld = ld ? ld : m.ld;
        if (may_share && random_.one_in(4) && room_[x] >= out.span()) {
            out.offset = offset = last_[x];
            return out;
        }
        out.offset = offset = roundUp(next_[x] + (random_.one_in(2) ? 0 : random_.below(9)), unit_[x]);
        last_[x] = out.offset;
        room_[x] = out.span();
        next_[x] = roundUp(out.offset + out.span(), uint64_t{plan::info(m.type).block});
        return out;
    }

    /// Breaks a rule that the group's sizes and matrices can break; the prediction is that this alone is reported.
    void break_one_rule(DrawnGroup& g) {
        if (g.m == 0 || g.n == 0) return;
        if (indexed_ && random_.one_in(4)) {
            g.given.firstIndex = random_.one_in(2) ? UINT32_MAX : static_cast<uint32_t>(p_.m);
            g.fault = VKGEMM_GROUP_FAULT_INDICES;
            return;
        }
        const bool reads = g.k != 0 && x_.alpha != 0 && !(p_.scalars & VKGEMM_SCALARS_ALPHA);
        const size_t x = reads ? std::array<size_t, 3>{0, 1, 3}[random_.below(3)] : 3;
        uint32_t* const lds[] = {&g.given.lda, &g.given.ldb, &g.given.ldc, &g.given.ldd};
        uint64_t* const offsets[] = {&g.given.offsetA, &g.given.offsetB, &g.given.offsetC, &g.given.offsetD};
        const GroupPlace& at = g.at[x];
        g.broken = x;
        const bool by_address = p_.grouping == VKGEMM_GROUPING_ADDRESSES;
        switch (1 + random_.below(5)) {
            case 1:
                if (at.length() < 2) return;
                *lds[x] = static_cast<uint32_t>(1 + random_.below(at.length() - 1));
                g.fault = VKGEMM_GROUP_FAULT_SHORT_LD;
                return;
            case 2:
                if (unit_[x] == 1) return;
                *lds[x] = static_cast<uint32_t>(at.ld + 1);
                g.fault = VKGEMM_GROUP_FAULT_MISALIGNED_LD;
                return;
            case 3:
                if (!can_misalign_[x]) return;
                *offsets[x] += 1;  // of an address a byte: see addressed()
                g.fault = VKGEMM_GROUP_FAULT_MISALIGNED_OFFSET;
                return;
            case 4:
                if (by_address) return;
                *offsets[x] = roundUp(random_.one_in(2) ? out_.elements[x] + 16 - std::min(out_.elements[x], at.span())
                                                        : uint64_t{1} << (30 + random_.below(20)),
                                      unit_[x]);
                g.fault = VKGEMM_GROUP_FAULT_OUTSIDE;
                return;
            default:
                if (at.lines() < 3) return;
                *lds[x] = static_cast<uint32_t>(roundUp(uint64_t{1} << 30, unit_[x]));
                g.fault = VKGEMM_GROUP_FAULT_TOO_LARGE;
        }
    }

    Random& random_;
    const Case& x_;
    const Problem& p_;
    bool indexed_, has_c_ = false;
    std::array<uint64_t, 4> unit_{}, next_{}, last_{}, room_{};
    std::array<uint64_t, 4> least_{};  // elements that a run must state, whatever its groups need
    std::array<bool, 4> can_misalign_{};
    uint64_t first_index_ = 0;
    DrawnTable out_;
};

}  // namespace

DrawnTable draw_table(Random& random, const Case& x, const Problem& completed, const VkgemmPlanInfo& plan) {
    return TableDraw(random, x, completed, plan)();
}

}  // namespace vkgemm::test
