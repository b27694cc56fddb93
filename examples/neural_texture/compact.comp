// SPDX-License-Identifier: MIT
// Lists the uv of the pixels that the network colours: those on the left of the split that see a surface, or, with
// `whole`, all. The list's length is VkgemmGroup::m, so the products that follow have as many rows.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "common.glsl"
#include "scene.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) writeonly buffer Points { vec2 uv[]; };
layout(std430, binding = 1) writeonly buffer Rows { uint row_of[]; };  // for each pixel
layout(std430, binding = 2) buffer Count { Counted counted; };
layout(binding = 7) uniform texture2D depth;
layout(push_constant) uniform Push { uint width, height, split, whole; float time; };
shared uint count, first;

void main() {
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    const bool on_screen = at.x < width && at.y < height;
    const Surface seen = surface_at(vec2(at), vec2(width, height), on_screen ? texelFetch(depth, at, 0).x : 0.0, time);
    const bool wanted = on_screen && (whole != 0 || (at.x < split && !seen.is_sky));
    if (gl_LocalInvocationIndex == 0) count = 0;
    barrier();
    const uint mine = wanted ? atomicAdd(count, 1) : 0;
    barrier();
    if (gl_LocalInvocationIndex == 0 && count != 0) {
        first = atomicAdd(counted.m, count);
        atomicMax(counted.dispatch_x, (first + count + 127) / 128);
    }
    barrier();
    if (!on_screen) return;
    row_of[at.y * width + at.x] = first + mine;
    if (wanted) uv[first + mine] = seen.uv;
}
