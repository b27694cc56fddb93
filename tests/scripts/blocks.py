#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/blocks.txt: one block of every format, as bytes and as the numbers that they stand for.

It computes them from the definitions in docs/formats.md, element by element, and shares nothing with formats.hpp or the
shaders. All numbers are exact in f32, and so is each step of decoding them, in any order.

usage: tests/scripts/blocks.py > tests/blocks.txt
"""

import random
import struct
import textwrap

rng = random.Random(1)
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
E2M1 += [-x for x in E2M1]
IQ4 = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]


def f16(x):
    return struct.pack("<e", x)


def f32(x):
    return struct.pack("<f", x)


def some(count):
    return bytes(rng.randrange(256) for _ in range(count))


def signed(byte):
    return byte - 256 if byte > 127 else byte


def half(codes, i):
    """Blocks of 32: element i in the low half of byte i, and i + 16 in the high half."""
    return codes[i] & 15 if i < 16 else codes[i - 16] >> 4


def neighbours(codes, i):
    return codes[i // 2] & 15 if i % 2 == 0 else codes[i // 2] >> 4


def q8_0(d):
    codes = some(32)
    return f16(d) + codes, [d * signed(c) for c in codes]


def q4_0(d):
    codes = some(16)
    return f16(d) + codes, [d * (half(codes, i) - 8) for i in range(32)]


def q4_1(d, m):
    codes = some(16)
    return f16(d) + f16(m) + codes, [d * half(codes, i) + m for i in range(32)]


def fifth(h, i):
    return (int.from_bytes(h, "little") >> i & 1) << 4


def q5_0(d):
    h, codes = some(4), some(16)
    return f16(d) + h + codes, [d * ((half(codes, i) | fifth(h, i)) - 16) for i in range(32)]


def q5_1(d, m):
    h, codes = some(4), some(16)
    return f16(d) + f16(m) + h + codes, [d * (half(codes, i) | fifth(h, i)) + m for i in range(32)]


def six_bits(scales, j):
    """s and t of sub-block j."""
    if j < 4:
        return scales[j] & 63, scales[j + 4] & 63
    return scales[j + 4] & 15 | scales[j - 4] >> 6 << 4, scales[j + 4] >> 4 | scales[j] >> 6 << 4


def k_code(codes, i):
    group, at = divmod(i, 64)
    return codes[32 * group + at] & 15 if at < 32 else codes[32 * group + at - 32] >> 4


def q4_k(d, e):
    scales, codes = some(12), some(128)
    numbers = []
    for i in range(256):
        s, t = six_bits(scales, i // 32)
        numbers.append(d * s * k_code(codes, i) - e * t)
    return f16(d) + f16(e) + scales + codes, numbers


def q5_k(d, e):
    scales, h, codes = some(12), some(32), some(128)
    numbers = []
    for i in range(256):
        s, t = six_bits(scales, i // 32)
        code = k_code(codes, i) | (h[i % 32] >> i // 32 & 1) << 4
        numbers.append(d * s * code - e * t)
    return f16(d) + f16(e) + scales + h + codes, numbers


def q6_k(d):
    codes, h, scales = some(128), some(64), some(16)
    numbers = []
    for element in range(256):
        part, i = divmod(element, 128)
        low = codes[64 * part + i % 64]
        low = low & 15 if i < 64 else low >> 4
        high = h[32 * part + i % 32] >> 2 * (i // 32) & 3
        numbers.append(d * signed(scales[element // 16]) * ((low | high << 4) - 32))
    return codes + h + scales + f16(d), numbers


def iq4_nl(d):
    codes = some(16)
    return f16(d) + codes, [d * IQ4[half(codes, i)] for i in range(32)]


def mxfp4(s):
    codes = some(16)
    return bytes([s]) + codes, [2.0 ** (s - 127) * E2M1[half(codes, i)] for i in range(32)]


def e4m3_of_scale(code):
    code &= 127
    if code == 127:
        return 0
    exponent, fraction = code >> 3, code & 7
    return fraction * 2.0**-9 if exponent == 0 else (1 + fraction / 8) * 2.0 ** (exponent - 7)


def nvfp4(scales):
    codes = some(32)
    numbers = []
    for element in range(64):
        sub, i = divmod(element, 16)
        code = codes[8 * sub + i % 8]
        numbers.append(e4m3_of_scale(scales[sub]) * E2M1[code & 15 if i < 8 else code >> 4])
    return bytes(scales) + codes, numbers


def i4():
    codes = some(16)
    return codes, [(neighbours(codes, i) ^ 8) - 8 for i in range(32)]


def u4(size, d, z, store):
    codes = some(size // 2)
    return store(d) + store(z) + codes, [d * (neighbours(codes, i) - z) for i in range(size)]


def i8(size, d, z, store):
    codes = some(size)
    return store(d) + store(z) + codes, [d * (signed(c) - z) for c in codes]


def u8(size, d, z, store):
    codes = some(size)
    return store(d) + store(z) + codes, [d * (c - z) for c in codes]


BLOCKS = {
    "q8_0": q8_0(-0.375),
    "q4_0": q4_0(0.625),
    "q4_1": q4_1(0.75, -3.125),
    "q5_0": q5_0(-1.5),
    "q5_1": q5_1(0.3125, 2.75),
    "q4_k": q4_k(0.046875, 0.15625),
    "q5_k": q5_k(-0.0390625, -0.21875),
    "q6_k": q6_k(0.0234375),
    "iq4_nl": iq4_nl(-0.4375),
    "mxfp4": mxfp4(123),
    "nvfp4": nvfp4([0x35, 0xB9, 0x7F, 0x03]),  # plain; with a sign; NaN, which is 0; below the normal numbers
    "i4": i4(),
    "u4_g32": u4(32, 0.625, -2.25, f16),
    "u4_g64": u4(64, -0.375, 7.5, f16),
    "u4_g128": u4(128, 0.875, 200.5, f16),
    "i8_g32": i8(32, 0.4375, 0.75, f16),
    "i8_g64": i8(64, 0.3125, -17.5, f16),
    "i8_g128": i8(128, -0.625, -300, f16),
    "u4_g32_f32": u4(32, -0.75, 8.125, f32),
    "u4_g64_f32": u4(64, 1.25, -1000.5, f32),
    "u4_g128_f32": u4(128, 0.1875, 7.5, f32),
    "i8_g32_f32": i8(32, 0.5625, -0.0625, f32),
    "i8_g64_f32": i8(64, -0.8125, 1000.25, f32),
    "i8_g128_f32": i8(128, 0.3125, -128.5, f32),
    "u8_g32": u8(32, -0.6875, 128, f16),
    "u8_g64": u8(64, 0.40625, 0.5, f16),
    "u8_g128": u8(128, 0.28125, 300, f16),
    "u8_g32_f32": u8(32, 0.8125, 255.75, f32),
    "u8_g64_f32": u8(64, -0.34375, -1000.25, f32),
    "u8_g128_f32": u8(128, 0.15625, 127.5, f32),
}


def words(items):
    return textwrap.fill(" ".join(items), 118, initial_indent="  ", subsequent_indent="  ")


print("# One block of every format: its bytes in hexadecimal, and the numbers that they stand for, which")
print("# tests/scripts/blocks.py computed from the definitions in docs/formats.md.")
for name, (data, numbers) in BLOCKS.items():
    assert all(struct.unpack("<f", struct.pack("<f", x))[0] == x for x in numbers), name
    print(f"{name} bytes")
    print(words(f"{byte:02x}" for byte in data))
    print(f"{name} numbers")
    print(words(f"{x:.17g}" if x else "0" for x in numbers))
