// SPDX-License-Identifier: MIT
// The encoding: grids of learned features, each finer than the one before by the same factor (from 8 x 8 to 512 x 512
// cells a tile of the texture). A grid that has more points than a level's table has entries is hashed. The texture
// repeats, and so do the grids.
struct Corners {
    uint entry[4];  // in the table of all levels
    float weight[4];
};

Corners corners_of(vec2 uv, uint level, uint table_log2) {
    const uint points = uint(8.0 * pow(1.31951, float(level)) + 0.5), size = 1u << table_log2;
    const vec2 p = fract(uv) * float(points);
    const uvec2 low = uvec2(p) % points;
    const vec2 f = fract(p);
    Corners c;
    for (uint i = 0; i < 4; ++i) {
        const uvec2 at = (low + uvec2(i & 1u, i >> 1u)) % points;
        const uint slot = points * points <= size ? at.y * points + at.x : (at.x ^ (at.y * 2654435761u)) & (size - 1u);
        c.entry[i] = level * size + slot;
        c.weight[i] = ((i & 1u) != 0u ? f.x : 1.0 - f.x) * ((i >> 1u) != 0u ? f.y : 1.0 - f.y);
    }
    return c;
}
