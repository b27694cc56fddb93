// SPDX-License-Identifier: MIT
// Turns a table of groups, which the caller or its shaders wrote, into the list that the work groups of a grouped
// product search, and into the arguments of its indirect dispatch (abi.h, grouped.glsl). One work group does it all.
//
//     table: m n k ... | m n k ... | m n k ...        list: work groups | 0 m n k ... | 6 m n k ... | 6 m n k ...
//
// The table is not trusted. A size above the largest one is replaced by it. A group becomes empty if one of its
// matrices is not inside its operand, or has a place or a leading dimension that the pipeline was not made for.
#extension GL_GOOGLE_include_directive : require
#include "common/extensions.glsl"
#include "abi.h"

#define X(id, name, meaning) layout(constant_id = id) const uint name = 1;
VKGEMM_TILE_CONSTANTS(X)
#undef X
#define X(id, name, meaning) layout(constant_id = id) const uint name = 0;
VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
layout(local_size_x_id = 0) in;  // WG
layout(push_constant, std430) uniform Push { TableArgs args; };

#ifdef VKGEMM_ADDRESSES
#include "formats/formats.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) buffer word_list { uint at[]; };
shared uint tiles_of[LIST_TILES_MOST_INVOCATIONS];

uvec2 sum_of(uvec2 x, uvec2 y) {
    uint carry;
    const uint low = uaddCarry(x.x, y.x, carry);
    return uvec2(low, x.y + y.y + carry);
}
bool above(uvec2 x, uvec2 y) { return x.y > y.y || (x.y == y.y && x.x > y.x); }

// One operand of a group.
struct Place {
    uint type, rows, cols, ld;  // rows of cols elements in memory
    uvec2 begin, end;           // of the whole operand, addresses
    uvec2 offset;               // elements
    bool is_wide;               // its rows are read or written 16 bytes at a time
};

// Computes the address of a group's operand. Returns false if it is not inside the operand or has a place or a leading
// dimension that the pipeline was not made for.
bool place(Place x, out uvec2 address) {
    const uint block = block_elements(x.type), bytes = block_bytes(x.type), shift = findMSB(block);
    address = x.begin;
    const uint unit = x.is_wide ? max(16, block == 1 ? 4 * bytes : 16) : 1;  // bytes that a row is a multiple of
    if (x.ld < x.cols || x.ld % block != 0 || x.ld / block * bytes % unit != 0) return false;
    uint high, low;
    umulExtended(x.rows - 1, x.ld, high, low);
    if (high != 0 || low > 0x7fffffffu || low + x.cols > 0x7fffffffu) return false;
    uvec2 span;
    umulExtended((low + x.cols + block - 1) >> shift, bytes, span.y, span.x);
    const bool counts = (TABLE_HAS & TABLE_ADDRESSES) == 0;  // elements
    if (counts && ((x.offset.x & (block - 1)) != 0 || x.offset.y >= 1u << 20)) return false;  // below 2^60 bytes
    const uvec2 blocks =
        shift == 0 ? x.offset : uvec2(x.offset.x >> shift | x.offset.y << (32 - shift), x.offset.y >> shift);
    uvec2 begin;
    umulExtended(blocks.x, bytes, begin.y, begin.x);
    begin.y += blocks.y * bytes;
    if (!counts) begin = x.offset;
    // Where its elements begin, if the operand begins at a multiple of their size, or of 4 bytes where there are
    // blocks.
    const uint least = counts ? 1 : block != 1 ? 4 : bytes;
    if ((begin.x & ((x.is_wide ? 16 : least) - 1)) != 0) return false;
    address = sum_of(x.begin, begin);
    return !counts || !above(sum_of(address, span), x.end);
}

uint own_size(uint given, uint bit, uint size) { return (TABLE_HAS & bit) != 0 ? min(given, size) : size; }

// Copies group `i` to the list. Returns its tiles.
uint listed(uint i) {
    word_list table = word_list(args.table), list = word_list(args.list);
    const uint to = LIST_HEADER_WORDS + i * LISTED_WORDS;
    uint given[GROUP_WORDS];  // loaded at once, because a load takes as long as everything else here
    [[unroll]] for (uint w = 0; w < GROUP_WORDS; ++w) given[w] = table.at[i * GROUP_WORDS + w];
    const bool swapped = (TABLE_HAS & TABLE_SWAPPED) != 0;
    uint m = own_size(given[swapped ? GROUP_N : GROUP_M], TABLE_HAS_M, args.m);
    uint n = own_size(given[swapped ? GROUP_M : GROUP_N], TABLE_HAS_N, args.n);
    const uint k = own_size(given[GROUP_K], TABLE_HAS_K, args.k);
    const uint first = given[GROUP_FIRST];
    if (BY_INDEX != 0) m = first < args.index_count ? min(m, args.index_count - first) : 0;

    const uvec4 in_place = swapped ? uvec4(1, 0, 2, 3) : uvec4(0, 1, 2, 3);  // which of the table's operands
    const uvec4 given_ld = uvec4(args.lda, args.ldb, args.ldc, args.ldd);
    const uvec2 begins[4] = uvec2[4](args.a, args.b, args.c, args.d);
    const uvec2 ends[4] = uvec2[4](args.end_a, args.end_b, args.end_c, args.end_d);
    const uint rows_of_d = BY_INDEX != 0 ? args.m : m;
    const uint rows_of_a = BY_INDEX != 0 ? (args.m + INDICES_PER_ROW - 1) / INDICES_PER_ROW : m;
    bool fits = m != 0 && n != 0;
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
        if (is_read && fits) fits = place(p, address);
        list.at[to + LISTED_LD + x] = p.ld;
        list.at[to + LISTED_ADDRESS + 2 * x] = address.x;
        list.at[to + LISTED_ADDRESS + 2 * x + 1] = address.y;
    }
    m = fits ? m : 0;
    n = fits ? n : 0;
    list.at[to + LISTED_M] = m;
    list.at[to + LISTED_N] = n;
    list.at[to + LISTED_K] = k;
    const uvec2 first_index = sum_of(args.indices, uvec2(first << 2, first >> 30));
    list.at[to + LISTED_ADDRESS + 8] = first_index.x;
    list.at[to + LISTED_ADDRESS + 9] = first_index.y;
    return (m + BM - 1) / BM * ((n + BN - 1) / BN);
}

void main() {
    // Each invocation takes as many neighbouring groups as every other.
    const uint tid = gl_LocalInvocationIndex, each = (args.count + WG - 1) / WG;
    const uint begin = min(tid * each, args.count), end = min(begin + each, args.count);
    word_list list = word_list(args.list);
    uint sum = 0;
    for (uint i = begin; i < end; ++i) {
        if (each > 1) list.at[LIST_HEADER_WORDS + i * LISTED_WORDS + LISTED_FIRST_TILE] = sum;  // since `begin`
        sum += listed(i);
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
    if (tid != 0) return;
    const uint all = tiles_of[WG - 1], across = min(all, args.max_groups_x);
    list.at[0] = across;
    list.at[1] = across == 0 ? 0 : (all + across - 1) / across;
    list.at[2] = 1;
    list.at[3] = args.count;
}
#else
void main() {}  // needs addresses
#endif
