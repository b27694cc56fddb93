// SPDX-License-Identifier: MIT
// What the shaders of this example share.
#ifdef F16
#extension GL_EXT_shader_16bit_storage : require
#define REAL float16_t
#define REAL2 f16vec2
#else
#define REAL float
#define REAL2 vec2
#endif
const uint levels = 16, features = 2, outputs = 8;  // of the encoding, and of the network

uint pcg(uint v) {
    const uint state = v * 747796405u + 2891336453u;
    const uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
float random(uint v) { return float(pcg(v) >> 8) * (1.0 / 16777216.0); }

// One VkgemmGroup, which the compaction writes: m is its counter. Behind it are the arguments of the dispatches that
// have one work group for 64 rows. network.h has the same struct.
struct Group {
    uint m, n, k, first_index, lda, ldb, ldc, ldd;
    uint offsets[8];
    uint dispatch_x, dispatch_y, dispatch_z, padding;
};
