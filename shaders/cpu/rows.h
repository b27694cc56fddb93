// SPDX-License-Identifier: MIT
// What the shader and the host both use.
#ifndef VKGEMM_CPU_ROWS_H
#define VKGEMM_CPU_ROWS_H

#define CPU_ROWS 8  // rows that cpu sums side by side

#endif
