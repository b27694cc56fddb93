// SPDX-License-Identifier: MIT
// Turns ggml's ids of MUL_MAT_ID into the table of groups and the index lists of a grouped product: a group for each
// expert, with the numbers of the pairs (token, slot) that chose it. One work group does it all.
//
//     ids: token 0: 2 0 | token 1: 2 1        lists: expert 0: 1 | expert 1: 3 | expert 2: 0 2
//
// The order within a list varies from run to run; the rows of a product do not depend on it. An id that is no expert's
// is left out, and its row of dst is not written. A single token has a group for each slot instead: it chooses few of
// the experts, and nothing has to be counted.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_memory_scope_semantics : require

const uint most_experts = 1024;      // Experts::most_experts
const uint most_invocations = 1024;  // Experts::most_invocations
layout(local_size_x_id = 0) in;

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Ids { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Lists { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer Groups { uvec4 at[]; };  // VkgemmGroup
layout(push_constant, std430) uniform Push {
    uvec2 ids, table, lists;  // addresses
    uvec2 apart;              // elements from one expert's matrix to the next
    uint experts, slots, tokens;
    uint slot_words, token_words;  // of ids
} args;

shared uint number[most_experts];     // of pairs, and then where the next one goes
shared uint sums[most_invocations];  // of the pairs of an invocation's experts and of all before

// atomicAdd within the work group. The usual one has the device's scope, which ggml's device need not have enabled.
uint add(uint e, uint x) {
    return atomicAdd(number[e], x, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

uint expert_of(uint pair) {
    return Ids(args.ids).at[pair / args.slots * args.token_words + pair % args.slots * args.slot_words];
}

// The experts of four pairs, `step` apart. They are loaded together, because a load takes as long as everything else
// here. A pair that does not exist has none.
uvec4 experts_of(uint pair, uint step, uint pairs) {
    const uvec4 at = pair + step * uvec4(0, 1, 2, 3), in_range = min(at, uvec4(pairs - 1));
    const uvec4 e =
        uvec4(expert_of(in_range.x), expert_of(in_range.y), expert_of(in_range.z), expert_of(in_range.w));
    return mix(e, uvec4(args.experts), greaterThanEqual(at, uvec4(pairs)));
}

// Group `i` has `m` rows, from index `first` on, of expert `e`.
void write_group(uint i, uint m, uint first, uint e) {
    uint high, low;
    umulExtended(e, args.apart.x, high, low);
    Groups groups = Groups(args.table);
    groups.at[4 * i] = uvec4(m, 0, 0, first);
    groups.at[4 * i + 1] = uvec4(0);
    groups.at[4 * i + 2] = uvec4(0, 0, low, high + e * args.apart.y);  // offsetB
    groups.at[4 * i + 3] = uvec4(0);
}

void list_slots(uint self, uint step) {
    for (uint i = self; i < args.slots; i += step) {
        const uint e = expert_of(i);
        write_group(i, e < args.experts ? 1 : 0, i, e);
        Lists(args.lists).at[i] = i;
    }
}

void main() {
    const uint self = gl_LocalInvocationIndex, step = gl_WorkGroupSize.x, pairs = args.slots * args.tokens;
    if (args.tokens == 1) {
        list_slots(self, step);
        return;
    }
    for (uint e = self; e < args.experts; e += step) number[e] = 0;
    barrier();
    for (uint i = self; i < pairs; i += 4 * step) {
        const uvec4 e = experts_of(i, step, pairs);
        for (uint j = 0; j < 4; ++j)
            if (e[j] < args.experts) add(e[j], 1);
    }
    barrier();
    // Each invocation takes as many neighbouring experts as every other.
    const uint each = (args.experts + step - 1) / step, begin = min(self * each, args.experts),
               end = min(begin + each, args.experts);
    uint sum = 0;
    for (uint e = begin; e < end; ++e) sum += number[e];
    sums[self] = sum;
    for (uint by = 1; by < min(step, args.experts); by *= 2) {
        barrier();
        const uint before = self >= by ? sums[self - by] : 0;
        barrier();
        sums[self] += before;
    }
    uint first = sums[self] - sum;
    for (uint e = begin; e < end; ++e) {
        const uint m = number[e];
        write_group(e, m, first, e);
        number[e] = first;
        first += m;
    }
    barrier();
    for (uint i = self; i < pairs; i += 4 * step) {
        const uvec4 e = experts_of(i, step, pairs);
        for (uint j = 0; j < 4; ++j)
            if (e[j] < args.experts) Lists(args.lists).at[add(e[j], 1)] = i + j * step;
    }
}
