// SPDX-License-Identifier: MIT
// Shared memory in 16-byte chunks of PER_CHUNK elements, as the shader and the host count it. COOPMAT_CHUNKS: SLOTS
// slices of one operand, k-contiguous or not; later D. COOPMAT_STRAIGHT, with STAGES 0: two slices of a matrix for each
// subgroup.
#ifndef VKGEMM_COOPMAT_SHARED_MEMORY_H
#define VKGEMM_COOPMAT_SHARED_MEMORY_H

#define COOPMAT_CHUNKS(K_CONTIGUOUS, SIDE, MK, SLOTS, PER_CHUNK) \
    ((K_CONTIGUOUS) ? ((SLOTS) * ((MK) / (PER_CHUNK)) + 1) * (SIDE) : ((SIDE) / (PER_CHUNK) + 1) * (SLOTS) * (MK))
#define COOPMAT_STRAIGHT(SUBGROUPS, MM, MK, PER_CHUNK) ((SUBGROUPS) * (MM) * (2 * (MK) / (PER_CHUNK) + 1))

#endif
