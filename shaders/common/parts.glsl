// SPDX-License-Identifier: MIT
// Sums whose parts are in shared memory, `count` of each element of a tile.
#ifndef VKGEMM_PARTS_GLSL
#define VKGEMM_PARTS_GLSL

// Where part i of the sum of element e is. Parts are rotated, so that invocations that add up neighbours meet in no
// bank, but each begins with part 0: the bits of a sum do not depend on where in a tile it is.
uint place_of_part(uint e, uint i, uint count) { return e * count + (i + e) % count; }

#endif
