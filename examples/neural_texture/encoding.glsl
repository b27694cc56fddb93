// SPDX-License-Identifier: MIT
// The encoding: grids of learned features, each finer than the one before by the same factor (from 8 x 8 to 512 x 512
// cells a tile of the texture). A grid that has more points than its table has entries is hashed. The texture repeats,
// and so do the grids.
uint points_of(uint level) { return uint(8.0 * pow(1.31951, float(level)) + 0.5); }  // along each side

struct Corners {
    uint entry[4];  // in the level's table
    float weight[4];
};

Corners corners_of(vec2 uv, uint points) {
    const vec2 p = fract(uv) * float(points), f = fract(p);
    const uvec2 low = min(uvec2(p), points - 1u), next = low + 1u;
    const uvec2 high = uvec2(next.x == points ? 0u : next.x, next.y == points ? 0u : next.y);
    Corners c;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        const uvec2 at = uvec2((i & 1u) != 0u ? high.x : low.x, (i >> 1u) != 0u ? high.y : low.y);
        c.entry[i] = points * points <= table_size ? at.y * points + at.x
                                                   : (at.x ^ (at.y * 2654435761u)) & (table_size - 1u);
        c.weight[i] = ((i & 1u) != 0u ? f.x : 1.0 - f.x) * ((i >> 1u) != 0u ? f.y : 1.0 - f.y);
    }
    return c;
}
