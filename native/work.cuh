// SPDX-License-Identifier: MIT
// What a block computes: units of work, numbered as in shaders/gemm.glsl (tile_of).
#pragma once
#include "native/hopper.cuh"
#include "native/native_args.h"

namespace vkgemm::native {

struct Place {
    uint32_t row, col;  // the first of the tile
    uint32_t batch, slice;
};

DEVICE uint32_t work_count(const NativeArgs& x) { return x.tiles_m * x.tiles_n * x.args.batch * x.slices; }

/// Tiles come first, along bands of `raster` rows of tiles and down the band; then the products of the batch, then the
/// slices of K.
template <int BM, int BN>
DEVICE Place place_of(const NativeArgs& x, uint32_t work) {
    const uint32_t tiles = x.tiles_m * x.tiles_n, copy = work / tiles, tile = work - copy * tiles;
    const uint32_t band_rows = min(max(x.args.raster, 1u), x.tiles_m), band_tiles = band_rows * x.tiles_n;
    const uint32_t band = tile / band_tiles, in_band = tile - band * band_tiles;
    const uint32_t rows = min(band_rows, x.tiles_m - band * band_rows);  // the last band may be lower
    const uint32_t across = in_band / rows, slice = copy / x.args.batch;
    return {.row = (band * band_rows + in_band - across * rows) * BM,
            .col = across * BN,
            .batch = copy - slice * x.args.batch,
            .slice = slice};
}

/// The part of k that a slice sums over.
struct Depth {
    uint32_t begin, end;
};
DEVICE Depth depth_of(const NativeArgs& x, uint32_t slice) {
    if (x.slices == 1) return {0, x.args.k};
    const uint32_t begin = slice * x.args.k_chunk;
    return {begin, min(x.args.k, begin + x.args.k_chunk)};
}
DEVICE uint32_t slice_of(const NativeArgs& x, uint32_t work) {
    return x.slices == 1 ? 0 : work / (x.tiles_m * x.tiles_n * x.args.batch);
}

}  // namespace vkgemm::native
