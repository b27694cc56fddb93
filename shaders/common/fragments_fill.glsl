// SPDX-License-Identifier: MIT
// How the products fill fragments a[i] and b[j] from the workspace. If an invocation's registers hold 16 bytes of a
// fragment, they are the bytes that it has loaded already. Otherwise the whole fragment is loaded row by row. `at` is
// the index in the array CHUNKS where the fragment begins. Functions write to the arrays themselves, because a matrix
// that is passed to a function is copied.
#ifndef VKGEMM_COOPMAT_PACKED_FILL_GLSL
#define VKGEMM_COOPMAT_PACKED_FILL_GLSL

void unpack_a(uint i, uvec4 bits) { SET_MATRIX(a[i], bits) }
void unpack_b(uint j, uvec4 bits) { SET_MATRIX(b[j], bits) }

void fill_a(uint i, uvec4 bits, uint at) {
    if (a[i].length() * SG == MM * MK) unpack_a(i, bits);
    else coopMatLoad(a[i], CHUNKS(a), at, MK / PER_CHUNK(UNIT_A), ROWS);
}
void fill_b(uint j, uvec4 bits, uint at) {
    if (b[j].length() * SG == MK * MN) unpack_b(j, bits);
    else coopMatLoad(b[j], CHUNKS(b), at, MK / PER_CHUNK(UNIT_B), COLUMNS);
}

#endif
