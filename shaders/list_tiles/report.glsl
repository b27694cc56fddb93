// SPDX-License-Identifier: MIT
// How groups are counted (report.h). list_tiles includes this.
#ifndef VKGEMM_REPORT_GLSL
#define VKGEMM_REPORT_GLSL

shared uint report[REPORT_WORDS];

// Adds a group to the report. `slot` has the operand that breaks a rule.
void count(uint i, bool is_empty, bool is_clamped, uint slot, uint fault) {
    if (is_empty) {
        atomicAdd(report[REPORT_EMPTY], 1);
        return;
    }
    if (is_clamped) atomicAdd(report[REPORT_CLAMPED], 1);
    if (fault == FAULT_NONE) return;
    atomicAdd(report[REPORT_SKIPPED], 1);
    atomicAdd(report[REPORT_FAULTS + fault], 1);
    atomicMin(report[REPORT_FIRST], FIRST_SKIPPED(i, slot, fault));
}

// The report ends where the list begins.
uvec2 report_begin() {
    uint borrow;
    const uint low = usubBorrow(args.list.x, 4 * REPORT_WORDS, borrow);
    return uvec2(low, args.list.y - borrow);
}

// Word `w` of the report, after all groups were counted.
uint word_of_report(uint w) {
    const uint first = report[REPORT_FIRST];
    const bool is_of_first = w >= REPORT_FIRST && w <= REPORT_FIRST_FAULT;
    uint word = report[w];
    if (w == REPORT_COMPUTED) word = args.count - report[REPORT_EMPTY] - report[REPORT_SKIPPED];
    if (is_of_first && first != ~0u)
        word = w == REPORT_FIRST        ? FIRST_SKIPPED_GROUP(first)
               : w == REPORT_FIRST_SLOT ? FIRST_SKIPPED_SLOT(first)
                                        : FIRST_SKIPPED_FAULT(first);
    return word;
}

#endif
