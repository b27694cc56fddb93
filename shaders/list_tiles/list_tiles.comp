// SPDX-License-Identifier: MIT
// Turns a table of groups, which the caller or its shaders wrote, into the list that the work groups of a grouped
// product search, and into the arguments of its indirect dispatch (abi.h, grouped.glsl). One work group does it all.
//
//     table: m n k ... | m n k ... | m n k ...        list: work groups | 0 m n k ... | 6 m n k ... | 6 m n k ...
//
// The table is not trusted. A size above the largest one is replaced by it. A group is skipped, so that it has no
// tiles, if one of its matrices is not inside its operand, or has a place or a leading dimension that the pipeline was
// not made for. The report before the list counts these groups (report.h). src/plan/steps/group_table.cpp does the same
// on the host.
//
// If indices choose matrices of B (BY_INDEX 2), there is no table: each index is checked, and only the report written.
#extension GL_GOOGLE_include_directive : require
#include "common/extensions.glsl"
#include "abi.h"
#include "list_tiles/report.h"

#define X(id, name, meaning) layout(constant_id = id) const uint name = 1;
VKGEMM_TILE_CONSTANTS(X)
#undef X
#define X(id, name, meaning) layout(constant_id = id) const uint name = 0;
VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
layout(local_size_x_id = 0) in;  // WG
layout(push_constant, std430) uniform Push { TableArgs args; };

#ifdef VKGEMM_ADDRESSES
#include "list_tiles/place.glsl"
#include "list_tiles/report.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) buffer word_list { uint at[]; };
shared uint tiles_of[LIST_TILES_MOST_INVOCATIONS];
#include "list_tiles/count_indices.glsl"

struct Sizes {
    uint m, n, k;
    bool is_empty, is_clamped;
    uint fault;  // of the indices
};

bool exceeds(uint given, uint bit, uint size) { return (TABLE_HAS & bit) != 0 && given > size; }
uint own_size(uint given, uint bit, uint size) { return (TABLE_HAS & bit) != 0 ? min(given, size) : size; }

// The sizes of a group for which the table has these, and this first index.
Sizes sizes_of(uint m, uint n, uint k, uint first) {
    Sizes own;
    own.m = own_size(m, TABLE_HAS_M, args.m);
    own.n = own_size(n, TABLE_HAS_N, args.n);
    own.k = own_size(k, TABLE_HAS_K, args.k);
    own.is_empty = own.m == 0 || own.n == 0;
    own.is_clamped = exceeds(m, TABLE_HAS_M, args.m) || exceeds(n, TABLE_HAS_N, args.n) ||
                     exceeds(k, TABLE_HAS_K, args.k);
    own.fault = FAULT_NONE;
    if (BY_INDEX != 0) {
        const uint left = first < args.index_count ? args.index_count - first : 0;
        own.is_clamped = own.is_clamped || (left != 0 && own.m > left);
        own.fault = left == 0 ? FAULT_INDICES : FAULT_NONE;
        own.m = min(own.m, left);
    }
    return own;
}

uint tiles(uint m, uint n) { return (m + BM - 1) / BM * ((n + BN - 1) / BN); }

// Copies group `i` to the list, and counts it. Returns its tiles.
uint listed(uint i, word_list list) {
    word_list table = word_list(args.table);
    const uint to = LIST_HEADER_WORDS + i * LISTED_WORDS;
    uint given[GROUP_WORDS];  // loaded at once, because a load takes as long as everything else here
    [[unroll]] for (uint w = 0; w < GROUP_WORDS; ++w) given[w] = table.at[i * GROUP_WORDS + w];
    const bool swapped = (TABLE_HAS & TABLE_SWAPPED) != 0;
    const uint first = given[GROUP_FIRST];
    const Sizes own = sizes_of(given[swapped ? GROUP_N : GROUP_M], given[swapped ? GROUP_M : GROUP_N], given[GROUP_K],
                               first);
    uint m = own.m, n = own.n, fault = own.fault, slot = SLOT_INDICES;
    const uint k = own.k;

    const uvec4 in_place = swapped ? uvec4(1, 0, 2, 3) : uvec4(0, 1, 2, 3);  // which of the table's operands
    const uvec4 given_ld = uvec4(args.lda, args.ldb, args.ldc, args.ldd);
    const uvec2 begins[4] = uvec2[4](args.a, args.b, args.c, args.d);
    const uvec2 ends[4] = uvec2[4](args.end_a, args.end_b, args.end_c, args.end_d);
    const uint rows_of_d = BY_INDEX != 0 ? args.m : m;
    const uint rows_of_a = BY_INDEX != 0 ? (args.m + INDICES_PER_ROW - 1) / INDICES_PER_ROW : m;
    [[unroll]] for (uint x = 0; x < 4; ++x) {
        const uint source = x == 2 && (TABLE_HAS & TABLE_C_IS_D) != 0 ? 3 : in_place[x];
        const uint table_ld = given[GROUP_LD + source];
        Place p;
        p.type = x == 0 ? FORMAT_A : x == 1 ? FORMAT_B : FORMAT_D;
        p.ld = table_ld == 0 ? given_ld[x] : table_ld;
        p.begin = begins[x];
        p.end = ends[x];
        p.offset = uvec2(given[GROUP_OFFSET + 2 * source], given[GROUP_OFFSET + 2 * source + 1]);
        p.is_wide = (ALIGNED & ((TABLE_HAS & TABLE_MIXED) != 0 && x < 2 ? CHUNKS_A : WIDE_A) << x) != 0;  // or B, C, D
        const uint rows = x == 0 ? rows_of_a : x == 1 ? k : rows_of_d, cols = x == 0 ? k : n;
        const bool transposed = (x == 0 ? TRANS_A : x == 1 ? TRANS_B : x == 2 ? TRANS_C : 0) != 0;
        p.rows = transposed ? cols : rows;
        p.cols = transposed ? rows : cols;
        const bool is_read = x == 3 || (x == 2 ? USE_C != 0 : k != 0);
        uvec2 address = begins[x];
        if (is_read && !own.is_empty && fault == FAULT_NONE) {
            fault = place(p, address);
            slot = source;
        }
        list.at[to + LISTED_LD + x] = p.ld;
        list.at[to + LISTED_ADDRESS + 2 * x] = address.x;
        list.at[to + LISTED_ADDRESS + 2 * x + 1] = address.y;
    }
    count(i, own.is_empty, own.is_clamped, slot, fault);
    const bool fits = !own.is_empty && fault == FAULT_NONE;
    m = fits ? m : 0;
    n = fits ? n : 0;
    list.at[to + LISTED_M] = m;
    list.at[to + LISTED_N] = n;
    list.at[to + LISTED_K] = k;
    const uvec2 first_index = sum_of(args.indices, uvec2(first << 2, first >> 30));
    list.at[to + LISTED_ADDRESS + 8] = first_index.x;
    list.at[to + LISTED_ADDRESS + 9] = first_index.y;
    return tiles(m, n);
}

// Skips those of groups `begin` to `end` that have more tiles than there are work groups left. Only an index list can
// have such groups: if all together have more indices than D has rows.
void skip_beyond(uint begin, uint end, word_list list) {
    for (uint i = begin; i < end; ++i) {
        const uint at = LIST_HEADER_WORDS + i * LISTED_WORDS;
        const uint of_group = tiles(list.at[at + LISTED_M], list.at[at + LISTED_N]);
        if (of_group == 0 || list.at[at + LISTED_FIRST_TILE] + of_group <= args.max_groups_x) continue;
        list.at[at + LISTED_M] = 0;
        list.at[at + LISTED_N] = 0;
        count(i, false, false, SLOT_INDICES, FAULT_INDICES);
    }
}

void list_groups() {
    // Each invocation takes as many neighbouring groups as every other.
    const uint tid = gl_LocalInvocationIndex, each = (args.count + WG - 1) / WG;
    const uint begin = min(tid * each, args.count), end = min(begin + each, args.count);
    word_list list = word_list(args.list);
    uint sum = 0;
    for (uint i = begin; i < end; ++i) {
        if (each > 1) list.at[LIST_HEADER_WORDS + i * LISTED_WORDS + LISTED_FIRST_TILE] = sum;  // since `begin`
        sum += listed(i, list);
    }
    tiles_of[tid] = sum;
    for (uint by = 1; by < WG; by *= 2) {
        barrier();
        const uint before = tid >= by ? tiles_of[tid - by] : 0;
        barrier();
        tiles_of[tid] += before;
    }
    barrier();
    const uint before = tiles_of[tid] - sum;
    for (uint i = begin; i < end; ++i) {
        const uint at = LIST_HEADER_WORDS + i * LISTED_WORDS + LISTED_FIRST_TILE;
        list.at[at] = before + (each > 1 ? list.at[at] : 0);
    }
    const uint all = tiles_of[WG - 1];
    if ((TABLE_HAS & TABLE_DIRECT) != 0 && all > args.max_groups_x) {
        skip_beyond(begin, end, list);
        barrier();
    }
    if ((TABLE_HAS & TABLE_COUNTS) != 0) count_indices(begin, end, each, list);
    if (tid != 0) return;
    const uint across = min(all, args.max_groups_x);
    list.at[0] = across;
    list.at[1] = across == 0 ? 0 : (all + across - 1) / across;
    list.at[2] = 1;
    list.at[3] = args.count;
}

void main() {
    word_list before_list = word_list(report_begin());
    for (uint w = gl_LocalInvocationIndex; w < REPORT_WORDS; w += WG) report[w] = w == REPORT_FIRST ? ~0u : 0;
    barrier();
    if (BY_INDEX == 2)
        count_selected();
    else
        list_groups();
    for (uint w = gl_LocalInvocationIndex; w < REPORT_WORDS; w += WG) before_list.at[w] = word_of_report(w);
}
#else
void main() {}  // needs addresses
#endif
