// SPDX-License-Identifier: MIT
// Records every index of an operand, in the modules that only `vkgemm cover` runs (VKGEMM_TRACE): counts each element
// that is touched, and lists what one work group touches, and after how many barriers. An index outside its operand is
// counted separately; the first element is read instead, or the space behind D is written to.
#include "common/trace.h"

layout(std430, set = 0, binding = BIND_TRACE) buffer Trace { uint trace[]; };

uint barriers_passed = 0;
void counted_barrier() {
    barrier();
    ++barriers_passed;
}
#define barrier counted_barrier

uint noted(uint operand, uint i, uint size) {
#ifdef INJECTED_OPERAND  // a fault, for tests: what index is used in place of which
    if (operand == INJECTED_OPERAND && i == INJECTED_FROM) i = INJECTED_TO;
#ifdef INJECTED_SWAP  // and the other way round
    else if (operand == INJECTED_OPERAND && i == INJECTED_TO) i = INJECTED_FROM;
#endif
#endif
    const uint first = i * size, span = trace[TRACE_SPAN + operand];
    if (first >= span || size > span - first) {
        atomicAdd(trace[TRACE_OUTSIDE + operand], 1);
        atomicMax(trace[TRACE_FARTHEST + operand], first + size - 1);
        return operand == BIND_D ? (span + size - 1) / size : 0;
    }
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    for (uint e = first; e < first + size; ++e) {
        atomicAdd(trace[trace[TRACE_COUNTS + operand] + e], 1);
        if (operand == BIND_D) trace[trace[TRACE_OWNERS] + e] = group + 1;
    }
    if (group != trace[TRACE_WATCHED]) return i;
    const uint entry = atomicAdd(trace[TRACE_LISTED], 1), at = trace[TRACE_LIST] + entry * TRACE_ENTRY;
    if (entry >= trace[TRACE_CAPACITY]) return i;
    trace[at] = first;
    trace[at + 1] = operand | size << 8;
    trace[at + 2] = gl_LocalInvocationIndex | gl_SubgroupID << 16;
    trace[at + 3] = barriers_passed;
    return i;
}

#define traced_a BIND_A
#define traced_b BIND_B
#define traced_b2 BIND_C
#define traced_c BIND_C
#define traced_d BIND_D
#define traced_partial BIND_D
#define traced_remainder BIND_D
#define traced_bias BIND_BIAS
#define traced_scale BIND_SCALE
#define traced_residual BIND_RESIDUAL
#define traced_c_words BIND_C  // of types that no traced case has
#define traced_bias_words BIND_BIAS
#define traced_scale_words BIND_SCALE
#define traced_residual_words BIND_RESIDUAL
#define NOTED(name, i, size) noted(traced_##name, i, size)
