// SPDX-License-Identifier: MIT
// The rows that packed operands keep together, as the shader and the host count them.
#ifndef VKGEMM_COMMON_ROW_BLOCK_H
#define VKGEMM_COMMON_ROW_BLOCK_H

// At most PACKED_ROW_BLOCK rows of A, or columns of B: whole parts of subgroups, of so many each.
#define ROW_BLOCK_OF(part) (PACKED_ROW_BLOCK / (part) * (part))

#endif
