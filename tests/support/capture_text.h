// SPDX-License-Identifier: MIT
// A capture as the file that vkgemmDescribeRun and its caller write, for tests of what reads it.
#pragma once
#include <cstdio>
#include <string>

#include "host/capture.h"

namespace vkgemm::test {

inline std::string sum_text(uint64_t sum) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
    return text;
}

inline std::string capture_text(const host::Capture& c) {
    std::string text = "vkgemm-capture " + std::to_string(VKGEMM_CAPTURE_FORMAT) + "\nversion " + c.version +
                       "\ndevice " + c.device + "\ndriver " + c.driver + "\nproblem " + c.problem + "\nkernel " +
                       c.kernel + "\ntile " + c.tile + "\noperands " + (c.addresses ? "addresses" : "descriptors") +
                       "\nalignment " + std::to_string(c.alignment) + "\nworkspace " + std::to_string(c.workspace) +
                       "\n";
    if (!c.hasData) return text;
    for (const host::CapturedOperand& o : c.operands)
        text += std::string("operand ") + host::detail::slot_name(o.slot) + " " + std::to_string(o.bytes.size()) + " " +
                sum_text(host::detail::checksum(o.bytes)) + "\n";
    text += "result " + std::to_string(c.resultBytes) + " " +
            (c.hasResult ? sum_text(c.resultChecksum) : std::string("unknown")) + "\ndata\n";
    for (const host::CapturedOperand& o : c.operands)
        text.append(reinterpret_cast<const char*>(o.bytes.data()), o.bytes.size());
    return text;
}

}  // namespace vkgemm::test
