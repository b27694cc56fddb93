// SPDX-License-Identifier: MIT
// Every type and block format, one file each, with all of its decoders. A file consists of sections, of which the
// includer chooses one by a macro:
//   FORMAT_LOAD8        case of a switch: loads the words that hold eight neighbours (common/mixed.glsl)
//   FORMAT_DECODE4      case: makes numbers of four of them (formats.glsl)
//   FORMAT_SCALES       case: the two factors that these numbers lack, if not 1 (formats.glsl)
// and, if few rows by blocks of it have a kernel of their own (chunk64.glsl):
//   CHUNK64             a row of sizes (chunk64.glsl)
//   CHUNK64_WORD        statement: word q of 64 elements, if their words are not contiguous
//   CHUNK64_DECODE4     case: four numbers of the 64
//   CHUNK64_SCALES      case: their factors
//   CHUNK64_CODES4      case: four codes as signed bytes, for packed dot products
//   CHUNK64_DOT_SCALES  case: scale and offset of 32 of these
#include "formats/plain.glsl"
#include "formats/i4.glsl"
#include "formats/grouped.glsl"
#include "formats/q8_0.glsl"
#include "formats/q4_0.glsl"
#include "formats/q4_1.glsl"
#include "formats/q5_0.glsl"
#include "formats/q5_1.glsl"
#include "formats/q4_k.glsl"
#include "formats/q5_k.glsl"
#include "formats/q6_k.glsl"
#include "formats/iq4_nl.glsl"
#include "formats/mxfp4.glsl"
#include "formats/nvfp4.glsl"
