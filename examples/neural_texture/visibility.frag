// SPDX-License-Identifier: MIT
// The visibility buffer; scene.glsl says what it holds.
#version 460
layout(location = 0) flat in float side;
layout(location = 0) out float visible;

void main() { visible = side / gl_FragCoord.w; }
