// SPDX-License-Identifier: MIT
// The moduli of products of f64 that are computed from products of int8 (split_int8, join_int8), for C++ and GLSL. They
// are the largest that int8 allows if no two share a divisor. P is their product.
#ifndef VKGEMM_MODULI_H
#define VKGEMM_MODULI_H

#define MODULI 15
#define MODULI_LIMBS 6         // of 20 bits, which numbers below P take, least significant first
#define MODULI_MOST_K 131072u  // so many products of int8 stay within 32 bits
#define MODULI_PAD_K 64u       // elements that a row of int8 is a multiple of
#define MODULI_PAD_N 16u       // bytes that a row of remainders is a multiple of

// X(t, p, reciprocal, 2^20, 2^40) for each modulus p = p_t:
//   reciprocal     2^39 / p, rounded so that x - floor(x * reciprocal / 2^39) * p is what is left of x modulo p, or p
//                  more, and fits a byte, for every x below 2^32
//   2^20, 2^40     modulo p
#define VKGEMM_MODULI(X)              \
    X(0, 256, 0x80000000u, 0, 0)      \
    X(1, 255, 0x80808081u, 16, 1)     \
    X(2, 253, 0x81848da9u, 144, 243)  \
    X(3, 251, 0x828cbfbfu, 149, 113)  \
    X(4, 247, 0x84a9f9c8u, 61, 16)    \
    X(5, 241, 0x87f78088u, 226, 225)  \
    X(6, 239, 0x891ac73bu, 83, 197)   \
    X(7, 233, 0x8ca29c04u, 76, 184)   \
    X(8, 229, 0x8f1779dau, 214, 225)  \
    X(9, 227, 0x905a3863u, 63, 110)   \
    X(10, 223, 0x92f11384u, 30, 8)    \
    X(11, 217, 0x97012e02u, 32, 156)  \
    X(12, 211, 0x9b4c6f9fu, 117, 185) \
    X(13, 199, 0xa4a9cf1eu, 45, 35)   \
    X(14, 197, 0xa655c439u, 142, 70)

// X(t, inverse, limbs...) for each modulus p: the limbs of P / p, and the inverse of that, modulo p.
#define VKGEMM_SHARES(X)                                             \
    X(0, 225, 0x61a21, 0xcb7d1, 0x3104c, 0xea830, 0x1c48a, 0x00371)  \
    X(1, 137, 0x4df00, 0x31aec, 0x91966, 0x83060, 0x90d98, 0x00374)  \
    X(2, 191, 0x8f500, 0xf8664, 0xc960e, 0xf5632, 0x8ef58, 0x0037b)  \
    X(3, 181, 0xe9300, 0xd6ae7, 0x8dc9b, 0x9fa12, 0xa998a, 0x00382)  \
    X(4, 120, 0xfa700, 0x70710, 0x89dd9, 0x60eb4, 0x3739b, 0x00391)  \
    X(5, 1, 0xc3100, 0x03b4a, 0x09948, 0x0b2a8, 0xf38e0, 0x003a7)    \
    X(6, 140, 0x5ef00, 0x7dd87, 0xded0a, 0x934af, 0xc89af, 0x003af)  \
    X(7, 80, 0xc7900, 0x7ffcc, 0xb9b3f, 0x3be48, 0x16494, 0x003c8)   \
    X(8, 65, 0xc8d00, 0x5f916, 0xf713e, 0x180c4, 0xff331, 0x003d8)   \
    X(9, 63, 0xc2b00, 0x79387, 0x61020, 0xf1ea9, 0xacddc, 0x003e1)   \
    X(10, 95, 0x4ff00, 0x5c664, 0x81be5, 0xf0840, 0x7fc07, 0x003f3)  \
    X(11, 80, 0x68900, 0xc33b1, 0xe1596, 0xd03c2, 0x777ca, 0x0040f)  \
    X(12, 48, 0x0bb00, 0xc5248, 0x50193, 0xb42f5, 0x06692, 0x0042d)  \
    X(13, 128, 0x5d700, 0x37f1f, 0x1ee60, 0xf281f, 0x7d262, 0x0046d) \
    X(14, 91, 0x1ad00, 0x086e9, 0xbdc01, 0x7ad13, 0xff11c, 0x00478)

// Limbs of P, and of P / 2 - 1; the bits of P from 2^90 on; the first 64 bits of P / 2 - 1, high word first, which is
// at least 2^116 and below 2^117.
#define MODULI_PRODUCT(X) X(0, 0xa2100) X(1, 0x7d161) X(2, 0x04ccb) X(3, 0x83031) X(4, 0x48aea) X(5, 0x3711c)
#define MODULI_HALF(X) X(0, 0xd107f) X(1, 0xbe8b0) X(2, 0x82665) X(3, 0x41818) X(4, 0x24575) X(5, 0x1b88e)
#define MODULI_TOP 0xdc47122u
#define MODULI_HALF_HIGH 0xdc47122bu
#define MODULI_HALF_LOW 0xaa0c0c41u
#define MODULI_HALF_BITS 116

// In place of the exponent of a row or column that has an infinity or a NaN.
#define NOT_FINITE 0x7fffffff

#endif
