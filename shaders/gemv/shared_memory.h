// SPDX-License-Identifier: MIT
// Shared memory of gemv_mixed in vectors of four, as the shader and the host count it: a row of the small operand's
// step, one more behind every eight for the banks.
#ifndef VKGEMM_GEMV_SHARED_MEMORY_H
#define VKGEMM_GEMV_SHARED_MEMORY_H

#define GEMV_MIXED_ROW(TEAM) ((TEAM)*9)

#endif
