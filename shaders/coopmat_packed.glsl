// SPDX-License-Identifier: MIT
// A matrix as 16 bytes of each invocation, and back. Which elements an invocation holds is the driver's secret; that it
// holds the same ones of every matrix of one kind is all that is used. Where a driver's invocations hold elements twice
// (length() tells), matrices lie in the workspace row by row instead.
#ifndef VKGEMM_WOVEN_GLSL
#define VKGEMM_WOVEN_GLSL

#define f16_pair(m, e) packFloat2x16(f16vec2((m)[e], (m)[(e) + 1]))
#define f16_unpair(m, e, word) { const f16vec2 two = unpackFloat2x16(word); (m)[e] = two.x; (m)[(e) + 1] = two.y; }
#define bf16_pair(m, e) packUint2x16(bfloat16BitsToUintEXT(bf16vec2((m)[e], (m)[(e) + 1])))
#define bf16_unpair(m, e, word) {                                       \
    const bf16vec2 two = uintBitsToBFloat16EXT(unpackUint2x16(word));   \
    (m)[e] = two.x; (m)[(e) + 1] = two.y; }

#define PAIR(m, e) VKGEMM_PASTE(UNIT_A, _pair)(m, e)
#define UNPAIR(m, e, word) VKGEMM_PASTE(UNIT_A, _unpair)(m, e, word)
#define BITS_OF(m) uvec4(PAIR(m, 0), PAIR(m, 2), PAIR(m, 4), PAIR(m, 6))
#define SPREAD(m, bits) UNPAIR(m, 0, (bits).x) UNPAIR(m, 2, (bits).y) UNPAIR(m, 4, (bits).z) UNPAIR(m, 6, (bits).w)

#ifdef VKGEMM_ADDRESSES
#define LINES(name) line(args.name).at
#define BEGIN(name) 0
#else
#define LINES(name) name##_line.at
#define BEGIN(name) (args.name.x / (16 / name##_bytes))
#endif

// Where the factors of an operand's lines lie, one word each: behind the parts of all its lines.
uint whole_row_blocks(uint lines) { return (lines + PACKED_ROW_BLOCK - 1) / PACKED_ROW_BLOCK * PACKED_ROW_BLOCK; }
uint factors_of(uint lines, uint ld, uint batches, uint parts) {
    return batches * whole_row_blocks(lines) * ld / 8 * parts;
}

// Every work group walks a window of steps from a place of its own, so that few wait for the same memory at once.
const uint WINDOW = 8;  // steps of two slices
uint walked(uint t, uint steps, uint phase) {
    const uint s = min(t, steps - 1), first = s & ~(WINDOW - 1);
    return steps - first >= WINDOW ? first + ((s + phase) & (WINDOW - 1)) : s;
}

// Where the subgroup's first fragment lies. Lines past the end read the last row_block, and are not stored.
uint begin_of(uint line, uint lines, uint side, uint across, uint slices) {
    return min(line / PACKED_ROW_BLOCK, (lines - 1) / PACKED_ROW_BLOCK) * slices * across + line % PACKED_ROW_BLOCK / side * SG;
}

#endif
