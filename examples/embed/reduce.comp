// SPDX-License-Identifier: MIT
// The engine's pass after the products. It computes one weighted sum for each row.
#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Data { float at[]; } data;
layout(std430, set = 0, binding = 1) writeonly buffer Sums { float at[]; } sums;
layout(push_constant) uniform Push { uint rows, cols; } push;

void main() {
    const uint row = gl_GlobalInvocationID.x;
    if (row >= push.rows) return;
    float sum = 0;
    for (uint col = 0; col < push.cols; ++col) sum += data.at[row * push.cols + col] * float(col % 7 + 1);
    sums.at[row] = sum;
}
