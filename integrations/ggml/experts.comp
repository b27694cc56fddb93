// SPDX-License-Identifier: MIT
// Turns ggml's ids of MUL_MAT_ID into the table of groups and the index lists of a grouped product: a group for each
// expert, with the numbers of the pairs (token, slot) that chose it. One work group does it all.
//
//     ids: token 0: 2 0 | token 1: 2 1        lists: expert 0: 1 | expert 1: 3 | expert 2: 0 2
//
// The order within a list varies from run to run; the rows of a product do not depend on it. An id that is no expert's
// is left out, and its row of dst is not written.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_memory_scope_semantics : require

const uint most_experts = 1024;  // Experts::mostExperts
const uint group_words = 16;     // VkgemmGroup
layout(local_size_x = 128) in;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(push_constant, std430) uniform Push {
    uvec2 ids, table, lists;  // addresses
    uvec2 apart;              // elements from one expert's matrix to the next
    uint experts, slots, tokens;
    uint slot_words, token_words;  // of ids
} args;

shared uint number[most_experts];  // of pairs, and then where the next one goes

// atomicAdd within the work group. The usual one has the device's scope, which ggml's device need not have enabled.
uint add(uint e, uint x) {
    return atomicAdd(number[e], x, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

uint expert_of(uint pair) {
    return Words(args.ids).at[pair / args.slots * args.token_words + pair % args.slots * args.slot_words];
}

void main() {
    const uint self = gl_LocalInvocationIndex, step = gl_WorkGroupSize.x, pairs = args.slots * args.tokens;
    for (uint e = self; e < args.experts; e += step) number[e] = 0;
    barrier();
    for (uint i = self; i < pairs; i += step) {
        const uint e = expert_of(i);
        if (e < args.experts) add(e, 1);
    }
    barrier();
    if (self == 0) {
        uint first = 0;
        for (uint e = 0; e < args.experts; ++e) {
            const uint m = number[e];
            Words(args.table).at[e * group_words] = m;
            Words(args.table).at[e * group_words + 3] = first;
            number[e] = first;
            first += m;
        }
    }
    barrier();
    for (uint e = self; e < args.experts; e += step) {
        for (uint i = 1; i < group_words; ++i)
            if (i != 3) Words(args.table).at[e * group_words + i] = 0;
        uint high, low;
        umulExtended(e, args.apart.x, high, low);
        Words(args.table).at[e * group_words + 10] = low;  // offsetB
        Words(args.table).at[e * group_words + 11] = high + e * args.apart.y;
    }
    for (uint i = self; i < pairs; i += step) {
        const uint e = expert_of(i);
        if (e < args.experts) Words(args.lists).at[add(e, 1)] = i;
    }
}
