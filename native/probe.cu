// SPDX-License-Identifier: MIT
// An empty kernel: a device that loads it loads the others, and one of another architecture refuses it.
extern "C" __global__ void vkgemm_probe() {}
