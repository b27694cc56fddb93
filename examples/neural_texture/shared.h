// SPDX-License-Identifier: MIT
// What the shaders and the host both know. C++ includes it in the namespace renderer.
#ifdef __cplusplus
#    define CONSTANT constexpr uint32_t
#else
#    define CONSTANT const uint
#    define uint32_t uint
#endif

CONSTANT levels = 16, features = 2, outputs = 8;  // of the encoding, and of the network
CONSTANT table_size = 1 << 15;                    // entries of a level
CONSTANT most_slices = 128;                       // of a batch, with gradients of layers of their own
CONSTANT strip = 8192;                            // points of a batch that lie near each other
CONSTANT table_parts = 8;                         // of a level's table, each for a work group of scatter.comp

// What compact.comp counts: a VkgemmGroup whose m is the number of rows, and the arguments of the encoding's dispatch.
struct Counted {
    uint32_t m, n, k, first_index, lda, ldb, ldc, ldd;
    uint32_t offsets[8];
    uint32_t dispatch_x, dispatch_y, dispatch_z;  // 128 rows; levels
};
