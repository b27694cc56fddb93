// SPDX-License-Identifier: MIT
// How the products fill fragments a[i] and b[j] from the workspace: from the 16 bytes that this invocation has loaded,
// if its registers hold exactly those; else by a load of the whole fragment, row by row. `at` is the index in the array
// CHUNKS where the fragment begins. Functions write to the arrays themselves, because a matrix that is passed to a
// function is copied.
#ifndef VKGEMM_COOPMAT_PACKED_FILL_GLSL
#define VKGEMM_COOPMAT_PACKED_FILL_GLSL

void unpack_a(uint i, uvec4 bits) {
    const UNIT_PAIR p = PAIR_OF(bits.x), q = PAIR_OF(bits.y), r = PAIR_OF(bits.z), s = PAIR_OF(bits.w);
    a[i][0] = p.x, a[i][1] = p.y, a[i][2] = q.x, a[i][3] = q.y;
    a[i][4] = r.x, a[i][5] = r.y, a[i][6] = s.x, a[i][7] = s.y;
}
void unpack_b(uint j, uvec4 bits) {
    const UNIT_PAIR p = PAIR_OF(bits.x), q = PAIR_OF(bits.y), r = PAIR_OF(bits.z), s = PAIR_OF(bits.w);
    b[j][0] = p.x, b[j][1] = p.y, b[j][2] = q.x, b[j][3] = q.y;
    b[j][4] = r.x, b[j][5] = r.y, b[j][6] = s.x, b[j][7] = s.y;
}

void fill_a(uint i, uvec4 bits, uint at) {
    if (a[i].length() * SG == MM * MK) unpack_a(i, bits);
    else coopMatLoad(a[i], CHUNKS(a), at, MK / PER_CHUNK(UNIT_A), ROWS);
}
void fill_b(uint j, uvec4 bits, uint at) {
    if (b[j].length() * SG == MK * MN) unpack_b(j, bits);
    else coopMatLoad(b[j], CHUNKS(b), at, MK / PER_CHUNK(UNIT_B), COLUMNS);
}

#endif
