// SPDX-License-Identifier: MIT
#include "plan/steps/group_table.h"

#include <algorithm>
#include <cstddef>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "shaders/list_tiles/report.h"

namespace vkgemm::plan {
namespace {

#define VKGEMM_IS_WORD(member, word) \
    static_assert(offsetof(VkgemmGroupReport, member) == sizeof(uint32_t) * (word), "list_tiles writes another word");
VKGEMM_IS_WORD(computed, REPORT_COMPUTED)
VKGEMM_IS_WORD(empty, REPORT_EMPTY)
VKGEMM_IS_WORD(clamped, REPORT_CLAMPED)
VKGEMM_IS_WORD(skipped, REPORT_SKIPPED)
VKGEMM_IS_WORD(firstSkipped, REPORT_FIRST)
VKGEMM_IS_WORD(firstSlot, REPORT_FIRST_SLOT)
VKGEMM_IS_WORD(firstFault, REPORT_FIRST_FAULT)
VKGEMM_IS_WORD(skippedIndices, REPORT_INDICES)
VKGEMM_IS_WORD(faults, REPORT_FAULTS)
#undef VKGEMM_IS_WORD
static_assert(sizeof(VkgemmGroupReport) == sizeof(uint32_t) * REPORT_WORDS && SLOT_INDICES == VKGEMM_SLOT_INDICES);
static_assert(FAULT_NONE == VKGEMM_GROUP_FAULT_NONE && FAULT_INDICES == VKGEMM_GROUP_FAULT_INDICES &&
              FAULT_SHORT_LD == VKGEMM_GROUP_FAULT_SHORT_LD &&
              FAULT_MISALIGNED_LD == VKGEMM_GROUP_FAULT_MISALIGNED_LD &&
              FAULT_MISALIGNED_OFFSET == VKGEMM_GROUP_FAULT_MISALIGNED_OFFSET &&
              FAULT_OUTSIDE == VKGEMM_GROUP_FAULT_OUTSIDE && FAULT_TOO_LARGE == VKGEMM_GROUP_FAULT_TOO_LARGE);
static_assert(most_groups_of_table <= FIRST_SKIPPED_GROUP(UINT32_MAX) + 1);

uint64_t number(const abi::uvec2& x) { return x.x | uint64_t{x.y} << 32; }

// One matrix of a group.
struct Place {
    VkgemmSlot slot;  // that the group's description has
    Type type;
    bool is_wide;         // its rows are read or written 16 bytes at a time
    bool counts;          // its offset is in elements, and not an address
    uint64_t rows, cols;  // in memory
    uint64_t ld, offset;
    uint64_t begin, end;  // of the whole operand

    uint64_t ld_unit() const { return is_wide ? wide_bytes(type) : 1; }
    uint64_t offset_unit() const { return is_wide ? 16 : counts ? 1 : info(type).unit_bytes(); }
    uint64_t span() const { return (rows - 1) * ld + cols; }
    uint64_t bytes_past_begin() const { return counts ? info(type).bytes_of(offset) : offset; }
    uint64_t end_past_begin() const {
        return bytes_past_begin() + div_up(span(), uint64_t{info(type).block}) * info(type).bytes;
    }
    VkgemmGroupFault fault() const;
};

// In the order in which list_tiles checks.
VkgemmGroupFault Place::fault() const {
    const TypeInfo& t = info(type);
    if (ld < cols) return VKGEMM_GROUP_FAULT_SHORT_LD;
    if (ld % t.block || t.bytes_of(ld) % ld_unit()) return VKGEMM_GROUP_FAULT_MISALIGNED_LD;
    if (span() > max_span) return VKGEMM_GROUP_FAULT_TOO_LARGE;
    if (counts && offset % t.block) return VKGEMM_GROUP_FAULT_MISALIGNED_OFFSET;
    if (counts && offset >> 52) return VKGEMM_GROUP_FAULT_OUTSIDE;
    if (bytes_past_begin() % offset_unit()) return VKGEMM_GROUP_FAULT_MISALIGNED_OFFSET;
    return counts && begin + end_past_begin() > end ? VKGEMM_GROUP_FAULT_OUTSIDE : VKGEMM_GROUP_FAULT_NONE;
}

// A group as the step finds it.
struct Checked {
    bool is_empty = false, is_clamped = false;
    uint64_t rows = 0, tiles = 0;
    VkgemmGroupFault fault = VKGEMM_GROUP_FAULT_NONE;
    Place place{};  // of the matrix that has the fault
};

class Table {
   public:
    Table(const Step& list, const abi::TableArgs& args) : c_(list.constants), tile_(list.tile), args_(args) {}

    // After the groups before it, which have so many tiles; its own are added.
    Checked check(const VkgemmGroup& g, uint64_t& tiles) const {
        Checked out = check(g);
        tiles += out.tiles;
        if (out.tiles && tiles > most_tiles()) out.fault = VKGEMM_GROUP_FAULT_INDICES;
        return out;
    }

    // As if there were no other groups.
    Checked check(const VkgemmGroup& g) const {
        Checked out;
        const uint32_t m = is_swapped() ? g.n : g.m, n = is_swapped() ? g.m : g.n;
        Sizes own = {.m = own_size(m, TABLE_HAS_M, args_.m, out),
                     .n = own_size(n, TABLE_HAS_N, args_.n, out),
                     .k = own_size(g.k, TABLE_HAS_K, args_.k, out),
                     .batch = 1};
        out.is_empty = own.m == 0 || own.n == 0;
        if (out.is_empty) return {.is_empty = true};
        if (c_.BY_INDEX) {
            const uint64_t left = g.firstIndex < args_.index_count ? args_.index_count - g.firstIndex : 0;
            if (left == 0) out.fault = VKGEMM_GROUP_FAULT_INDICES;
            out.is_clamped |= left && own.m > left;
            own.m = std::min(own.m, left);
        }
        for (size_t x = BIND_A; x <= BIND_D && !out.fault; ++x) {
            const bool is_read = x == BIND_D || (x == BIND_C ? c_.USE_C != 0 : own.k != 0);
            if (!is_read) continue;
            out.place = place(x, g, own);
            out.fault = out.place.fault();
        }
        out.rows = own.m;
        out.tiles = out.fault ? 0 : div_up(own.m, uint64_t{tile_.BM}) * div_up(own.n, uint64_t{tile_.BN});
        return out;
    }

    // Operand `x` of the product, BIND_A to BIND_D.
    Place place(size_t x, const VkgemmGroup& g, const Sizes& own) const {
        const VkgemmSlot slot = slot_of(x);
        const uint32_t lds[] = {g.lda, g.ldb, g.ldc, g.ldd}, whole_lds[] = {args_.lda, args_.ldb, args_.ldc, args_.ldd};
        const uint64_t offsets[] = {g.offsetA, g.offsetB, g.offsetC, g.offsetD};
        const abi::uvec2 begins[] = {args_.a, args_.b, args_.c, args_.d},
                         ends[] = {args_.end_a, args_.end_b, args_.end_c, args_.end_d};
        const uint64_t of_a = c_.BY_INDEX ? div_up(uint64_t{args_.m}, uint64_t{c_.INDICES_PER_ROW}) : own.m,
                       of_d = c_.BY_INDEX ? args_.m : own.m;
        const uint64_t rows = x == BIND_A ? of_a : x == BIND_B ? own.k : of_d, cols = x == BIND_A ? own.k : own.n;
        const bool transposed = (x == BIND_A   ? c_.TRANS_A
                                 : x == BIND_B ? c_.TRANS_B
                                 : x == BIND_C ? c_.TRANS_C
                                               : 0) != 0;
        return {.slot = slot,
                .type = static_cast<Type>(x == BIND_A   ? c_.FORMAT_A
                                          : x == BIND_B ? c_.FORMAT_B
                                                        : c_.FORMAT_D),
                .is_wide = is_wide(x),
                .counts = !(c_.TABLE_HAS & TABLE_ADDRESSES),
                .rows = transposed ? cols : rows,
                .cols = transposed ? rows : cols,
                .ld = lds[slot] ? lds[slot] : whole_lds[x],
                .offset = offsets[slot],
                .begin = number(begins[x]),
                .end = number(ends[x])};
    }

    VkgemmSlot slot_of(size_t x) const {
        if (x == BIND_C) return c_.TABLE_HAS & TABLE_C_IS_D ? VKGEMM_SLOT_D : VKGEMM_SLOT_C;
        if (x == BIND_D) return VKGEMM_SLOT_D;
        return plan::slot_of(x == BIND_A, is_swapped());
    }

    // One of a group's sizes, of the caller's problem, and its bound.
    struct Bounded {
        std::string_view name;
        uint32_t given, bound;
    };
    std::array<Bounded, 3> sizes(const VkgemmGroup& g) const {
        const auto bound = [&](uint32_t bit, uint32_t size) { return c_.TABLE_HAS & bit ? size : UINT32_MAX; };
        const uint32_t m = bound(TABLE_HAS_M, args_.m), n = bound(TABLE_HAS_N, args_.n);
        return {{{"m", g.m, is_swapped() ? n : m},
                 {"n", g.n, is_swapped() ? m : n},
                 {"k", g.k, bound(TABLE_HAS_K, args_.k)}}};
    }

    // Tiles for which the product has work groups, whatever the table holds.
    uint64_t most_tiles() const { return c_.TABLE_HAS & TABLE_DIRECT ? args_.max_groups_x : UINT64_MAX; }

   private:
    bool is_swapped() const { return c_.TABLE_HAS & TABLE_SWAPPED; }
    bool is_wide(size_t x) const {
        const uint32_t of_a = c_.TABLE_HAS & TABLE_MIXED && x < BIND_C ? CHUNKS_A : WIDE_A;
        return c_.ALIGNED & (of_a << x);  // those of B, C and D follow
    }
    uint64_t own_size(uint32_t given, uint32_t bit, uint32_t size, Checked& out) const {
        if (!(c_.TABLE_HAS & bit)) return size;
        out.is_clamped |= given > size;
        return std::min(given, size);
    }

    const ProblemConstants& c_;
    const Tile& tile_;
    const abi::TableArgs& args_;
};

std::string too_short(const Place& p, const std::string_view& name) {
    return concat({"ld", name, " is ", p.ld, ", and a row has ", p.cols, " elements"});
}

// How to make a plan that has no such rule.
constexpr const char* alignment_remedy =
    " bytes (VkgemmPlanInfo::groupAlignment); a plan with a smaller operandAlignment takes any";

std::string misaligned_ld(const Place& p, const std::string_view& name) {
    const TypeInfo& t = info(p.type);
    if (p.ld % t.block)
        return concat({"ld", name, " is ", p.ld, ", not a multiple of the ", t.block, " elements of a block"});
    return concat({"ld", name, " is ", p.ld, ", which is ", t.bytes_of(p.ld), " bytes and not a multiple of ",
                   p.ld_unit(), alignment_remedy});
}

std::string misaligned_offset(const Place& p, const std::string& offset) {
    const TypeInfo& t = info(p.type);
    if (p.counts && p.offset % t.block)
        return concat({offset, " is ", p.offset, ", not a multiple of the ", t.block, " elements of a block"});
    if (!p.is_wide)
        return concat({offset, " is the address ", p.offset, ", not a multiple of ", p.offset_unit(), " bytes"});
    return concat({offset, " is ", (p.counts ? "" : "the address "), p.offset,
                   (p.counts ? concat({", which is ", p.bytes_past_begin(), " bytes"}) : ","),
                   " and not a multiple of ", p.offset_unit(), alignment_remedy});
}

std::string in_words(const Checked& c, const VkgemmGroup& g, const abi::TableArgs& args) {
    constexpr std::string_view letters = "abcdABCD";
    const Place& p = c.place;
    const std::string_view lower = letters.substr(size_t(p.slot), 1), upper = letters.substr(size_t(p.slot) + 4, 1);
    const std::string offset = concat({"offset", upper});
    switch (c.fault) {
        case VKGEMM_GROUP_FAULT_NONE:
            return "this group and those before it have more indices together than D has rows";
        case VKGEMM_GROUP_FAULT_INDICES:
            return concat({"firstIndex is ", g.firstIndex, ", and there are ", args.index_count, " indices"});
        case VKGEMM_GROUP_FAULT_SHORT_LD:
            return too_short(p, lower);
        case VKGEMM_GROUP_FAULT_MISALIGNED_LD:
            return misaligned_ld(p, lower);
        case VKGEMM_GROUP_FAULT_MISALIGNED_OFFSET:
            return misaligned_offset(p, offset);
        case VKGEMM_GROUP_FAULT_TOO_LARGE:
            return concat({upper, " spans ", p.span(), " elements, and a dispatch reaches ", max_span});
        default:
            break;
    }
    if (p.offset >> 52) return concat({offset, " is ", p.offset, ", beyond every operand"});
    return concat({upper, " would end ", p.end_past_begin(), " bytes from the beginning of its operand, which has ",
                   p.end - p.begin});
}

}  // namespace

std::array<uint32_t, 4> group_alignment(const Step& list) {
    constexpr abi::TableArgs no_run = {};
    const Table table(list, no_run);
    std::array<uint32_t, 4> out{};
    for (size_t x = BIND_A; x <= BIND_D; ++x) {
        if (x == BIND_C && !list.constants.USE_C) continue;
        const Place p = table.place(x, {}, {1, 1, 1, 1});
        const TypeInfo& t = info(p.type);
        const auto least = p.counts ? t.bytes : t.unit_bytes();
        out[size_t(p.slot)] = std::max(least, static_cast<uint32_t>(p.ld_unit()));
    }
    return out;
}

VkgemmGroupReport check_table(const Step& list, const abi::TableArgs& args, std::span<const VkgemmGroup> groups) {
    const Table table(list, args);
    VkgemmGroupReport out = {};
    out.firstSkipped = UINT32_MAX;
    uint64_t tiles = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
        const Checked c = table.check(groups[i], tiles);
        out.empty += c.is_empty;
        out.clamped += c.is_clamped;
        out.computed += !c.is_empty && !c.fault;
        out.skipped += c.fault != VKGEMM_GROUP_FAULT_NONE;
        if (!c.fault) continue;
        ++out.faults[c.fault];
        if (out.skipped > 1) continue;
        out.firstSkipped = static_cast<uint32_t>(i);
        out.firstSlot = c.fault == VKGEMM_GROUP_FAULT_INDICES ? VKGEMM_SLOT_INDICES : c.place.slot;
        out.firstFault = c.fault;
    }
    return out;
}

std::string why_skipped(const Step& list, const abi::TableArgs& args, std::span<const VkgemmGroup> groups,
                        const VkgemmGroupReport& report) {
    const VkgemmGroup& g = groups[report.firstSkipped];
    return concat(
        {"groups[", report.firstSkipped, "] would be skipped: ", in_words(Table(list, args).check(g), g, args),
         report.skipped > 1 ? concat({"; ", report.skipped, " of ", groups.size(), " groups would be skipped"}) : ""});
}

std::string why_clamped(const Step& list, const abi::TableArgs& args, std::span<const VkgemmGroup> groups) {
    const Table table(list, args);
    const auto first = std::ranges::find_if(groups, [&](const VkgemmGroup& g) { return table.check(g).is_clamped; });
    const std::string group = concat({"groups[", size_t(first - groups.begin()), "]"});
    for (const auto& [name, given, bound] : table.sizes(*first))
        if (given > bound)
            return concat({name, " of ", group, " is ", given, ", above its bound ", bound,
                           ": nothing beyond the bound is computed; make a plan for more"});
    return concat({group, " has ", first->m, " indices from firstIndex ", first->firstIndex, " on, and there are ",
                   args.index_count, " indices"});
}

std::string check_indices(const Step& list, const abi::TableArgs& args, std::span<const VkgemmGroup> groups,
                          std::span<const uint32_t> indices, VkgemmGroupReport& report) {
    const Table table(list, args);
    std::string first;
    uint64_t tiles = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
        const Checked c = table.check(groups[i], tiles);
        if (c.is_empty || c.fault) continue;
        for (uint64_t at = groups[i].firstIndex; at < groups[i].firstIndex + c.rows; ++at) {
            if (indices[at] < args.m) continue;
            if (report.skippedIndices++ == 0)
                first = concat({"indices[", at, "], of groups[", i, "], is ", indices[at], ", and D has ", args.m,
                                " rows: it would be skipped"});
        }
    }
    if (report.skippedIndices > 1) first += concat({"; ", report.skippedIndices, " indices would be skipped"});
    return first;
}

VkgemmGroupReport check_selection(std::span<const uint32_t> indices, uint32_t matrices) {
    VkgemmGroupReport out = {};
    const auto is_beyond = [&](uint32_t index) { return index >= matrices; };
    const auto first = std::ranges::find_if(indices, is_beyond);
    out.skipped = static_cast<uint32_t>(std::ranges::count_if(indices, is_beyond));
    out.computed = static_cast<uint32_t>(indices.size()) - out.skipped;
    out.firstSkipped = UINT32_MAX;
    out.faults[VKGEMM_GROUP_FAULT_INDICES] = out.skipped;
    if (out.skipped == 0) return out;
    out.firstSkipped = static_cast<uint32_t>(first - indices.begin());
    out.firstSlot = VKGEMM_SLOT_INDICES;
    out.firstFault = VKGEMM_GROUP_FAULT_INDICES;
    return out;
}

std::string why_not_selected(std::span<const uint32_t> indices, uint32_t matrices, const VkgemmGroupReport& report) {
    return concat({"indices[", report.firstSkipped, "] is ", indices[report.firstSkipped], ", and B has ", matrices,
                   " matrices: this product would be skipped",
                   report.skipped > 1 ? concat({"; ", report.skipped, " of ", indices.size(), " would be"}) : ""});
}

}  // namespace vkgemm::plan
