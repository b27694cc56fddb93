// SPDX-License-Identifier: MIT
// How the products fill fragments a[i] and b[j] from the workspace. If an invocation's registers hold each element
// once, their bits are those of the chunks that it has loaded already, of which `bits` is the c-th. Otherwise the whole
// fragment is loaded row by row. `at` is the index in the array CHUNKS where the fragment begins. Functions write to
// the arrays themselves, because a matrix that is passed to a function is copied.
#ifndef VKGEMM_COOPMAT_PACKED_FILL_GLSL
#define VKGEMM_COOPMAT_PACKED_FILL_GLSL

void unpack_a(uint i, uint c, uvec4 bits) { SET_MATRIX(a[i], c * PER_CHUNK(UNIT_A), bits) }
void unpack_b(uint j, uint c, uvec4 bits) { SET_MATRIX(b[j], c * PER_CHUNK(UNIT_B), bits) }

void fill_a(uint i, uint c, uvec4 bits, uint at) {
    if (IN_ORDER(a[i], MM * MK)) unpack_a(i, c, bits);
    else if (c == 0) coopMatLoad(a[i], CHUNKS(a), at, MK / PER_CHUNK(UNIT_A), ROWS);
}
void fill_b(uint j, uint c, uvec4 bits, uint at) {
    if (IN_ORDER(b[j], MK * MN)) unpack_b(j, c, bits);
    else if (c == 0) coopMatLoad(b[j], CHUNKS(b), at, MK / PER_CHUNK(UNIT_B), COLUMNS);
}

#endif
