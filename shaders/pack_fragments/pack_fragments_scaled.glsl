// SPDX-License-Identifier: MIT
// How pack_fragments finds the power of two that each row is multiplied by (SCALED in pack_fragments.comp).
#ifndef VKGEMM_PACK_FRAGMENTS_SCALED_GLSL
#define VKGEMM_PACK_FRAGMENTS_SCALED_GLSL

shared uint greatest[BM];  // of each row, the bits of its largest magnitude that is finite
int exponents(uint row) { return min(141 - int(greatest[row] >> 23), 126); }  // of the row's factor

// Multiplies four f32 by the factors of their rows: of `row` if K_CONTIGUOUS, otherwise of four rows from it on.
uvec4 scaled(uvec4 x, uint row) {
    const uvec4 rows = K_CONTIGUOUS ? uvec4(row) : row + uvec4(0, 1, 2, 3);
    const ivec4 up = ivec4(exponents(rows.x), exponents(rows.y), exponents(rows.z), exponents(rows.w));
    return floatBitsToUint(uintBitsToFloat(x) * uintBitsToFloat(uvec4(up + 127) << 23));
}

uvec4 magnitudes(uvec4 x) { return mix(uvec4(0), x & 0x7fffffffu, has_finite_bits(x)); }
void record(uint row, uint magnitude) {
    atomicMax(greatest[row], magnitude, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// Searches the rows for their largest elements, and writes the exponents that undo their factors.
void measure(uint row0) {
    const uint tid = gl_LocalInvocationIndex;
    for (uint i = tid; i < BM; i += WG) greatest[i] = 0;
    barrier();
    [[unroll]] for (uint i = 0; i < LOADS; ++i) {
        const uvec2 from = place_of(i);
        uvec4 lower = uvec4(0), upper = uvec4(0);
        for (uint k = from.y; k < args.k; k += BN) {
            lower = max(lower, magnitudes(chunk_a(row0 + from.x, k)));
            upper = max(upper, magnitudes(upper_half(row0 + from.x, k)));
        }
        if (K_CONTIGUOUS) {
            lower = max(lower, upper);
            record(from.x, max(max(lower.x, lower.y), max(lower.z, lower.w)));
        } else {
            [[unroll]] for (uint c = 0; c < P / 2; ++c) {
                record(from.x + c, lower[c]);
                record(from.x + P / 2 + c, upper[c]);
            }
        }
    }
    barrier();
    const uint factors = PACKED_BEGIN + factors_of(args.m, args.ldd, args.batch, PARTS);
    for (uint i = 4 * tid; i < BM; i += 4 * WG)
        PACKED[factors + (batch * whole_row_blocks(args.m) + row0 + i) / 4] =
            uvec4(-ivec4(exponents(i), exponents(i + 1), exponents(i + 2), exponents(i + 3)));
}

#endif
