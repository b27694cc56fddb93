// SPDX-License-Identifier: MIT
// What the shader and the host both count.
#ifndef VKGEMM_CPU_SHARED_MEMORY_H
#define VKGEMM_CPU_SHARED_MEMORY_H

#define CPU_ROWS 8  // rows that cpu sums side by side

#endif
