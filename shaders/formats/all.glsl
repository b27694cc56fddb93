// SPDX-License-Identifier: MIT
// Every type and block format, one file each, with all of its decoders. A file consists of sections, of which the
// includer chooses one by a macro:
//   FORMAT_LOAD8        case of a switch: loads the words that hold eight neighbours (common/mixed.glsl)
//   FORMAT_DECODE4      case: makes numbers of four of them (formats.glsl)
//   FORMAT_SCALES       case: the two factors that these numbers lack, if not 1 (formats.glsl)
// and, if few rows by blocks of it have a kernel of their own (chunk64.glsl):
//   CHUNK64             a row of facts (chunk64.glsl); gemv_blocks/family.h reads it too
//   CHUNK64_WORD        statement: word q of 64 elements, if their words are not contiguous
//   CHUNK64_DECODE4     case: four numbers of the 64
//   CHUNK64_SCALES      case: their factors
//   CHUNK64_CODES4      case: four codes as signed bytes, for packed dot products
//   CHUNK64_DOT_SCALES  case: scale and offset of 32 of these
#include "plain.glsl"
#include "i4.glsl"
#include "grouped.glsl"
#include "q8_0.glsl"
#include "q4_0.glsl"
#include "q4_1.glsl"
#include "q5_0.glsl"
#include "q5_1.glsl"
#include "q4_k.glsl"
#include "q5_k.glsl"
#include "q6_k.glsl"
#include "iq4_nl.glsl"
#include "mxfp4.glsl"
#include "nvfp4.glsl"
