// SPDX-License-Identifier: MIT
// Shared memory as the shader and the host count it, in vectors of four. GEMV_BLOCKS_ROW: a row of A's step, one more
// behind every sixteen for the banks.
#ifndef VKGEMM_GEMV_BLOCKS_SHARED_MEMORY_H
#define VKGEMM_GEMV_BLOCKS_SHARED_MEMORY_H

#define GEMV_BLOCKS_ROW(TEAM) ((TEAM)*17)
// Vectors of four words of a row of A's step that one invocation of gemv_blocks::mxint8 multiplies; odd, for the banks.
#define GEMV_MXINT8_LANE(DEPTH) (5 * (DEPTH) | 1)

#endif
