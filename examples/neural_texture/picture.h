// SPDX-License-Identifier: MIT
// Pictures on the host: PNG files, the contact sheet and the curve of the loss.
#pragma once
#include "graph.h"

namespace renderer {

constexpr uint32_t milestones[] = {100, 1000, 5000};  // steps after which the texture is shown

/// What the host learns of a frame when it has ended.
struct Finished {
    uint32_t steps = 0;         // until its end
    bool trained = false;       // otherwise it has no loss
    double loss = 0, psnr = 0;  // of one point, on average over the batch of its last step, before that step
    uint32_t rows = 0;          // that the network coloured
    Times times{};              // of the GPU
};

struct Picture {
    uint32_t width, height;
    std::vector<uint32_t> rgba;  // red in the lowest byte

    Picture(uint32_t w, uint32_t h) : width(w), height(h), rgba(size_t{w} * h, 0xffffffff) {}
    Picture(uint32_t w, uint32_t h, std::span<const uint32_t> all)
        : width(w), height(h), rgba(all.begin(), all.end()) {}
    void fill(int x, int y, int w, int h, uint32_t colour);
    void text(int x, int y, std::string line);
    void paste(uint32_t x, uint32_t y, const Picture& other);
    void save(const std::string& file) const;
};

/// What the texture looked like after some steps.
struct Snapshot {
    struct Part {
        Picture network, reference, difference;
    };
    uint32_t step = 0;
    double psnr = 0;
    Part whole, detail;
};
/// Columns: the reference, then one for each snapshot. Rows: the texture, a detail, the detail's difference times 8.
Picture contact_sheet(const std::vector<Snapshot>& all);
/// The loss by steps, both on logarithmic axes.
Picture loss_curve(const std::vector<Finished>& frames);

}  // namespace renderer
