// SPDX-License-Identifier: MIT
// The moduli of products of f64 that are computed from products of int8 (split_int8, join_int8), for C++ and GLSL. They
// are the largest that int8 allows if no two share a divisor. P is their product.
#ifndef VKGEMM_MODULI_H
#define VKGEMM_MODULI_H

#define MODULI 15              // of accuracy=f64_split
#define MODULI_WIDE 18         // of accuracy=f64_split_wide
#define MODULI_LIMBS 7         // of 20 bits, which numbers below P take, least significant first
#define MODULI_MOST_K 131072u  // so many products of int8 stay within 32 bits
#define MODULI_PAD_K 64u       // elements that a row of int8 is a multiple of
#define MODULI_PAD_N 16u       // bytes that a row of remainders is a multiple of

// X(t, p, reciprocal, 2^20, 2^40, 2^60) for each modulus p = p_t:
//   reciprocal     2^39 / p, rounded so that x - floor(x * reciprocal / 2^39) * p is the remainder of x, or p
//                  more, and fits a byte, for every x below 2^32
//   2^20, ...      modulo p
#define VKGEMM_MODULI(X)                   \
    X(0, 256, 0x80000000u, 0, 0, 0)        \
    X(1, 255, 0x80808081u, 16, 1, 16)      \
    X(2, 253, 0x81848da9u, 144, 243, 78)   \
    X(3, 251, 0x828cbfbfu, 149, 113, 20)   \
    X(4, 247, 0x84a9f9c8u, 61, 16, 235)    \
    X(5, 241, 0x87f78088u, 226, 225, 240)  \
    X(6, 239, 0x891ac73bu, 83, 197, 99)    \
    X(7, 233, 0x8ca29c04u, 76, 184, 4)     \
    X(8, 229, 0x8f1779dau, 214, 225, 60)   \
    X(9, 227, 0x905a3863u, 63, 110, 120)   \
    X(10, 223, 0x92f11384u, 30, 8, 17)     \
    X(11, 217, 0x97012e02u, 32, 156, 1)    \
    X(12, 211, 0x9b4c6f9fu, 117, 185, 123) \
    X(13, 199, 0xa4a9cf1eu, 45, 35, 182)   \
    X(14, 197, 0xa655c439u, 142, 70, 90)   \
    X(15, 193, 0xa9c84a48u, 7, 49, 150)    \
    X(16, 191, 0xab8f69e3u, 177, 5, 121)   \
    X(17, 181, 0xb509e68bu, 43, 39, 48)

// X(t, inverse, limbs...) for each modulus p of f64_split, and of f64_split_wide: the limbs of P / p, and the inverse
// of that, modulo p.
#define VKGEMM_SHARES(X)                                                      \
    X(0, 225, 0x61a21, 0xcb7d1, 0x3104c, 0xea830, 0x1c48a, 0x00371, 0x00000)  \
    X(1, 137, 0x4df00, 0x31aec, 0x91966, 0x83060, 0x90d98, 0x00374, 0x00000)  \
    X(2, 191, 0x8f500, 0xf8664, 0xc960e, 0xf5632, 0x8ef58, 0x0037b, 0x00000)  \
    X(3, 181, 0xe9300, 0xd6ae7, 0x8dc9b, 0x9fa12, 0xa998a, 0x00382, 0x00000)  \
    X(4, 120, 0xfa700, 0x70710, 0x89dd9, 0x60eb4, 0x3739b, 0x00391, 0x00000)  \
    X(5, 1, 0xc3100, 0x03b4a, 0x09948, 0x0b2a8, 0xf38e0, 0x003a7, 0x00000)    \
    X(6, 140, 0x5ef00, 0x7dd87, 0xded0a, 0x934af, 0xc89af, 0x003af, 0x00000)  \
    X(7, 80, 0xc7900, 0x7ffcc, 0xb9b3f, 0x3be48, 0x16494, 0x003c8, 0x00000)   \
    X(8, 65, 0xc8d00, 0x5f916, 0xf713e, 0x180c4, 0xff331, 0x003d8, 0x00000)   \
    X(9, 63, 0xc2b00, 0x79387, 0x61020, 0xf1ea9, 0xacddc, 0x003e1, 0x00000)   \
    X(10, 95, 0x4ff00, 0x5c664, 0x81be5, 0xf0840, 0x7fc07, 0x003f3, 0x00000)  \
    X(11, 80, 0x68900, 0xc33b1, 0xe1596, 0xd03c2, 0x777ca, 0x0040f, 0x00000)  \
    X(12, 48, 0x0bb00, 0xc5248, 0x50193, 0xb42f5, 0x06692, 0x0042d, 0x00000)  \
    X(13, 128, 0x5d700, 0x37f1f, 0x1ee60, 0xf281f, 0x7d262, 0x0046d, 0x00000) \
    X(14, 91, 0x1ad00, 0x086e9, 0xbdc01, 0x7ad13, 0xff11c, 0x00478, 0x00000)
#define VKGEMM_SHARES_WIDE(X)                                                 \
    X(0, 3, 0xf56ab, 0x7ad39, 0x02763, 0xd94a6, 0xf6e02, 0x9a0ae, 0x015e6)    \
    X(1, 19, 0xe5500, 0x8b5ef, 0x5ad10, 0xdb258, 0x0ff01, 0x96a19, 0x015fc)   \
    X(2, 40, 0xac700, 0x439e7, 0xe1198, 0xac4f4, 0xfdd9b, 0x154ac, 0x01629)   \
    X(3, 155, 0x21100, 0xed76f, 0x65716, 0x334ad, 0x30d45, 0x497a5, 0x01656)  \
    X(4, 232, 0xeed00, 0x89aa9, 0x26d3a, 0x4aecb, 0xabeb7, 0xe40f7, 0x016b2)  \
    X(5, 96, 0x15b00, 0x1c7f1, 0x79960, 0x5fe90, 0x73a6f, 0x8f72a, 0x01743)   \
    X(6, 123, 0xe0500, 0x6d11c, 0x3943b, 0xf8d03, 0x66b1f, 0x65cd9, 0x01775)  \
    X(7, 83, 0xe7300, 0x9422b, 0xc52d4, 0x6d177, 0x7f506, 0x0b08b, 0x01810)   \
    X(8, 168, 0x04f00, 0x6a01d, 0x350ec, 0x57857, 0xf6eaf, 0xa4612, 0x0187b)  \
    X(9, 134, 0x59900, 0x2cea2, 0x0ced1, 0xc36dd, 0xb68e4, 0xdd167, 0x018b2)  \
    X(10, 80, 0x7b500, 0xfc5b6, 0xc1641, 0x6c3e6, 0x325e5, 0x47395, 0x01924)  \
    X(11, 151, 0x12300, 0xdd956, 0x04157, 0xd9697, 0x13e89, 0x3d656, 0x019d6) \
    X(12, 15, 0xbc900, 0x0f8fe, 0xaba1a, 0x99397, 0xfc359, 0x528dd, 0x01a92)  \
    X(13, 162, 0xefd00, 0x077ed, 0x6b5e3, 0x91bd9, 0x25258, 0x83456, 0x01c2c) \
    X(14, 147, 0x0af00, 0x59709, 0x69dbe, 0xc87fd, 0xe1f33, 0xbc7b5, 0x01c75) \
    X(15, 37, 0x66b00, 0x07ba8, 0x29bb5, 0x3eba3, 0x3a32a, 0xbc68b, 0x01d0c)  \
    X(16, 157, 0x91500, 0xe8fb7, 0xf3373, 0x810f3, 0x012c7, 0x9b88a, 0x01d5a) \
    X(17, 164, 0x5df00, 0xf19c7, 0x22990, 0x36282, 0xf5ec7, 0xc77c5, 0x01ef9)

// X(i, limb of f64_split, limb of f64_split_wide) of P, and of P / 2 - 1.
#define MODULI_PRODUCT(X)  \
    X(0, 0xa2100, 0x6ab00) \
    X(1, 0x7d161, 0xd39f5) \
    X(2, 0x04ccb, 0x7637a) \
    X(3, 0x83031, 0x4a602) \
    X(4, 0x48aea, 0xe02d9) \
    X(5, 0x3711c, 0x0aef6) \
    X(6, 0x00000, 0x15e69a)
#define MODULI_HALF(X)     \
    X(0, 0xd107f, 0xb557f) \
    X(1, 0xbe8b0, 0x69cfa) \
    X(2, 0x82665, 0x3b1bd) \
    X(3, 0x41818, 0xa5301) \
    X(4, 0x24575, 0x7016c) \
    X(5, 0x1b88e, 0x0577b) \
    X(6, 0x00000, 0xaf34d)
// The bits of P from 2^90 on, or from 2^113 on. Then the first 64 bits of P / 2 - 1, high word first, which is at least
// 2^MODULI_HALF_BITS and below twice that.
#define MODULI_TOP 0xdc47122u
#define MODULI_TOP_WIDE 0xaf34d05u
#define MODULI_HALF_HIGH 0xdc47122bu
#define MODULI_HALF_LOW 0xaa0c0c41u
#define MODULI_HALF_BITS 116
#define MODULI_HALF_HIGH_WIDE 0xaf34d057u
#define MODULI_HALF_LOW_WIDE 0x7b7016cau
#define MODULI_HALF_BITS_WIDE 139

// In place of the exponent of a row or column that has an infinity or a NaN.
#define NOT_FINITE 0x7fffffff

#endif
