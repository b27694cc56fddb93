// SPDX-License-Identifier: MIT
// What renderer_test does with the renderer of examples/neural_texture.
#pragma once
#include "renderer.h"

namespace renderer_test {

using namespace renderer;

/// Returns whether all gradients agree with finite differences.
bool check_gradients(Renderer& r);
/// Trains all steps. Returns whether the texture then has `floor` dB, untrained weights at least 10 dB less, and the
/// network draws the same picture if it runs on the pixels that were counted, of which there are as many as the torus
/// and the plane have, and if it runs on all.
bool check_learning(Renderer& r, double floor);
/// Prints times; of frames only if the queue has graphics, and of passes only if `each`.
void bench(Renderer& r, bool frames, bool each);

}  // namespace renderer_test
