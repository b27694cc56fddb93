// SPDX-License-Identifier: MIT
// i4: 32 elements in 16 bytes, each a signed number of four bits.
#if defined(FORMAT_LOAD8)
case VKGEMM_TYPE_I4:
    words = 1, code = x.place;
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_I4: return small_numbers(spread(x.code[0] >> 16 * part) ^ 0x08080808u, 15, 8);
#endif
