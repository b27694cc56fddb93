// SPDX-License-Identifier: MIT
// Rounds rows of f32 to f16 or bf16, four elements for each invocation and one row for each y. To bf16 it rounds to the
// nearest, ties to even, as ggml does; to f16 in the direction of the device. NaN stays NaN.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x_id = 0) in;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer From { vec4 at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer To { uvec2 at[]; };
layout(push_constant, std430) uniform Push {
    uvec2 from, to;  // addresses
    uint fours, apart;
    uint is_bf16;
} args;

uvec4 bf16_of(vec4 x) {
    const uvec4 bits = floatBitsToUint(x);
    const uvec4 rounded = bits + 0x7fff + ((bits >> 16) & 1);
    return mix(rounded, bits | 0x400000, greaterThan(bits & 0x7fffffff, uvec4(0x7f800000))) >> 16;
}

void main() {
    const uint i = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
    if (i >= args.fours) return;
    const vec4 x = From(args.from).at[row * args.apart + i];
    uvec2 y;
    if (args.is_bf16 != 0) {
        const uvec4 words = bf16_of(x);
        y = uvec2(words.x | words.y << 16, words.z | words.w << 16);
    } else {
        y = uvec2(packHalf2x16(x.xy), packHalf2x16(x.zw));
    }
    To(args.to).at[row * args.fours + i] = y;
}
