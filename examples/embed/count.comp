// SPDX-License-Identifier: MIT
// The engine's pass that decides on the GPU how many rows the next product has: it writes one VkgemmGroup, of which all
// but m stays 0.
#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) writeonly buffer Group { uint word[]; } group;
layout(push_constant) uniform Push { uint words, rows; } push;

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < push.words) group.word[i] = i == 0 ? push.rows : 0;
}
