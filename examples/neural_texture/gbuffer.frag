// SPDX-License-Identifier: MIT
// The G-buffer: uv and the normal's x and y; position and, in w, 1 for the plane, 2 for the torus, negative if the
// normal's z is. What no triangle covers stays 0.
#version 460
layout(location = 0) in vec2 uv;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 position;
layout(location = 3) flat in uint id;
layout(location = 0) out vec4 surface;
layout(location = 1) out vec4 place;

void main() {
    const vec3 n = normalize(normal);
    surface = vec4(uv, n.xy);
    place = vec4(position, n.z < 0.0 ? -float(id) : float(id));
}
