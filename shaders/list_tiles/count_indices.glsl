// SPDX-License-Identifier: MIT
// Counts indices that a run skips, in the report. list_tiles includes this.
#ifndef VKGEMM_COUNT_INDICES_GLSL
#define VKGEMM_COUNT_INDICES_GLSL

// Adds the indices that have no row of D, of groups that are computed. Each invocation has `each` groups from `begin`
// on. In every trip they publish one group each, and share the indices of all these.
void count_indices(uint begin, uint end, uint each, word_list list) {
    word_list table = word_list(args.table);
    uint outside = 0;
    for (uint trip = 0; trip < each; ++trip) {
        const uint own = begin + trip;
        barrier();
        tiles_of[gl_LocalInvocationIndex] =
            own < end ? list.at[LIST_HEADER_WORDS + own * LISTED_WORDS + LISTED_M] : 0;
        barrier();
        for (uint of = 0; of < WG; ++of) {
            if (tiles_of[of] == 0) continue;
            const uint first = table.at[(of * each + trip) * GROUP_WORDS + GROUP_FIRST];
            word_list indices = word_list(sum_of(args.indices, uvec2(first << 2, first >> 30)));
            for (uint i = gl_LocalInvocationIndex; i < tiles_of[of]; i += WG)
                outside += indices.at[i] < args.m ? 0 : 1;
        }
    }
    atomicAdd(report[REPORT_INDICES], outside);
    barrier();
}

// The report of a batch whose matrices of B, index_count of them, indices choose.
void count_selected() {
    word_list indices = word_list(args.indices);
    for (uint i = gl_LocalInvocationIndex; i < args.count; i += WG)
        count(i, false, false, SLOT_INDICES, indices.at[i] < args.index_count ? FAULT_NONE : FAULT_INDICES);
    barrier();
}

#endif
