// SPDX-License-Identifier: MIT
// How a work group copies a step of its rows of A (chunk64.glsl) to shared memory: neighbours copy neighbouring
// elements, eight each. The family's store_a_step decodes them on their way from registers to shared memory.
#ifndef VKGEMM_STAGED_A_GLSL
#define VKGEMM_STAGED_A_GLSL

const uint COPIES = (BM * STEP / 8 + WG - 1) / WG;  // of eight elements, by an invocation
Packed8 copied[COPIES];

// Loads the step that begins at k0, and the last eight elements again past the end.
void load_a_step(uint row0, uint k0) {
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = min(e / (STEP / 8), BM - 1);
        copied[i] = load8(true, index_a(row0 + v, min(k0 + e % (STEP / 8) * 8, k_end - 8)));
    }
}

#endif
