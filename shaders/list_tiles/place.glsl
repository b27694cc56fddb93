// SPDX-License-Identifier: MIT
// Where a matrix of a group is, and which rule it breaks. list_tiles includes this.
#ifndef VKGEMM_PLACE_GLSL
#define VKGEMM_PLACE_GLSL
#include "formats/formats.glsl"

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

// Computes the address of a group's operand. Returns the rule that it breaks, FAULT_*.
uint place(Place x, out uvec2 address) {
    const uint block = block_elements(x.type), bytes = block_bytes(x.type), shift = findMSB(block);
    address = x.begin;
    const uint unit = x.is_wide ? max(16, block == 1 ? 4 * bytes : 16) : 1;  // bytes that a row is a multiple of
    if (x.ld < x.cols) return FAULT_SHORT_LD;
    if (x.ld % block != 0 || x.ld / block * bytes % unit != 0) return FAULT_MISALIGNED_LD;
    uint high, low;
    umulExtended(x.rows - 1, x.ld, high, low);
    if (high != 0 || low > 0x7fffffffu || low + x.cols > 0x7fffffffu) return FAULT_TOO_LARGE;
    uvec2 span;
    umulExtended((low + x.cols + block - 1) >> shift, bytes, span.y, span.x);
    const bool counts = (TABLE_HAS & TABLE_ADDRESSES) == 0;  // elements
    if (counts && (x.offset.x & (block - 1)) != 0) return FAULT_MISALIGNED_OFFSET;
    if (counts && x.offset.y >= 1u << 20) return FAULT_OUTSIDE;  // 2^60 bytes or more
    const uvec2 blocks =
        shift == 0 ? x.offset : uvec2(x.offset.x >> shift | x.offset.y << (32 - shift), x.offset.y >> shift);
    uvec2 begin;
    umulExtended(blocks.x, bytes, begin.y, begin.x);
    begin.y += blocks.y * bytes;
    if (!counts) begin = x.offset;
    // Where its elements begin, if the operand begins at a multiple of their size, or of 4 bytes where there are
    // blocks.
    const uint least = counts ? 1 : block != 1 ? 4 : bytes;
    if ((begin.x & ((x.is_wide ? 16 : least) - 1)) != 0) return FAULT_MISALIGNED_OFFSET;
    address = sum_of(x.begin, begin);
    return counts && above(sum_of(address, span), x.end) ? FAULT_OUTSIDE : FAULT_NONE;
}

#endif
