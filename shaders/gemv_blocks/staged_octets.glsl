// SPDX-License-Identifier: MIT
// How a work group copies a step of its rows of A (pieces.glsl) to shared memory: neighbours copy neighbouring octets.
// They are decoded on their way from registers to shared memory, by the family's store_a_step.
#ifndef VKGEMM_STAGED_OCTETS_GLSL
#define VKGEMM_STAGED_OCTETS_GLSL

const uint COPIES = (BM * STEP / 8 + WG - 1) / WG;  // octets that an invocation copies
Octet copied[COPIES];

// The step that begins at k0; past the end the last octet again.
void load_a_step(uint row0, uint k0) {
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = min(e / (STEP / 8), BM - 1);
        copied[i] = octet_from(true, index_a(row0 + v, min(k0 + e % (STEP / 8) * 8, k_end - 8)));
    }
}

#endif
