// SPDX-License-Identifier: MIT
// What a traced module (trace.glsl) writes: words of one buffer. C++ and GLSL read this file. TRACE_* are indices into
// its head, for operands the index of binding 0; then come the counts, one for each element of each operand, the work
// group that wrote each element of D, counted from 1, and the list of what one work group touches.
#ifndef VKGEMM_TRACE_H
#define VKGEMM_TRACE_H

#define BIND_TRACE BIND_COUNT
#define TRACE_WATCHED 0                              // the work group whose accesses are listed
#define TRACE_CAPACITY 1                             // entries that the list holds
#define TRACE_LISTED 2                               // accesses of that group, listed or not
#define TRACE_OWNERS 3                               // where the writers of D begin
#define TRACE_LIST 4                                 // where the list begins
#define TRACE_SPAN 5                                 // elements of each operand
#define TRACE_COUNTS (TRACE_SPAN + BIND_COUNT)       // where its counts begin
#define TRACE_OUTSIDE (TRACE_COUNTS + BIND_COUNT)    // accesses that reach outside it
#define TRACE_FARTHEST (TRACE_OUTSIDE + BIND_COUNT)  // the largest index of one that does
#define TRACE_HEAD (TRACE_FARTHEST + BIND_COUNT)     // words of the head
#define TRACE_ENTRY 4  // words: first element; binding, elements << 8; invocation, subgroup << 16; barriers before

#endif
