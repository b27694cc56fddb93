// SPDX-License-Identifier: MIT
// The public functions of explain.h about files of tuned rows and of disabled kernels.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "plan/base/concat.h"
#include "plan/device/disabled_kernels.h"
#include "vk/api_guard.h"
#include "vkgemm/explain.h"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

struct VkgemmRows_T {
    // One of the two is empty.
    plan::TunedRows tuned;
    std::vector<plan::TunedRow> disabled;  // device, kernel, the reason in `skipped`; without a problem

    std::span<const plan::TunedRow> rows() const { return disabled.empty() ? tuned.rows() : disabled; }
};

namespace {

std::string line_of(const plan::DisabledKernelRow& r) {
    return plan::concat({r.device, " | ", r.kernel, " | ", r.why});
}

/// What both readers do: `read` makes the rows of a text that is there; they are stored in `member`.
template <class Rows, class Read>
VkgemmResult read_rows(const char* text, Rows VkgemmRows_T::*member, VkgemmRows* rows, VkgemmError* error,
                       const Read& read) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!rows) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "rows is null"});
        *rows = nullptr;
        if (!text) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "text is null"});
        Result<std::vector<plan::TunedRow>> found = read();
        if (!found) return vk::to_result(error, found.status());
        auto made = std::make_unique<VkgemmRows_T>();
        made.get()->*member = Rows(std::move(*found));
        *rows = made.release();
        return vk::success(error);
    });
}

}  // namespace

VkgemmResult vkgemmReadTunedRows(VkgemmContext context, const char* text, VkgemmRows* rows, VkgemmError* error) {
    return read_rows(text, &VkgemmRows_T::tuned, rows, error, [&]() -> Result<std::vector<plan::TunedRow>> {
        auto all = plan::parse_tuned(text);
        if (!all || !context) return all;
        return plan::tuned_for(context->caps, *all);
    });
}

VkgemmResult vkgemmReadDisabledKernels(const char* text, VkgemmRows* rows, VkgemmError* error) {
    return read_rows(text, &VkgemmRows_T::disabled, rows, error, [&]() -> Result<std::vector<plan::TunedRow>> {
        auto all = plan::parse_disabled_kernels(text);
        if (!all) return all.status();
        std::vector<plan::TunedRow> out;
        for (const plan::DisabledKernelRow& r : *all) {
            plan::TunedRow row;
            row.device = r.device;
            row.kernel = r.kernel;
            row.text = line_of(r);
            row.skipped = r.why;
            out.push_back(std::move(row));
        }
        return out;
    });
}

void vkgemmDestroyRows(VkgemmRows rows) { vk::destroy(rows); }

uint32_t vkgemmGetRowCount(VkgemmRows rows) { return rows ? static_cast<uint32_t>(rows->rows().size()) : 0; }

VkgemmResult vkgemmGetRow(VkgemmRows rows, uint32_t index, VkgemmRow* row) {
    return vk::guarded(nullptr, [&]() -> VkgemmResult {
        if (vk::check_output(row) || !rows || index >= rows->rows().size()) return VKGEMM_ERROR_INVALID_ARGUMENT;
        const plan::TunedRow& r = rows->rows()[index];
        VkgemmRow out{};  // zeroed, because it has padding, which is copied too
        out.device = r.device.c_str();
        out.kernel = r.kernel.c_str();
        out.tile = r.tile.c_str();
        out.reason = r.skipped.c_str();
        out.text = r.text.c_str();
        vk::write_struct(out, row);
        return VKGEMM_SUCCESS;
    });
}

VkgemmResult vkgemmFindTunedRow(VkgemmRows rows, const VkgemmProblem* problem, uint32_t operandAlignment,
                                uint32_t* index, double* distance, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!rows || !index)
            return vk::to_result(error,
                                 Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, rows ? "index is null" : "rows is null"});
        auto given = vk::problem_from(problem);
        if (!given) return vk::to_result(error, given.status());
        const auto completed = plan::complete(*given);
        if (!completed) return vk::to_result(error, completed.status());
        const plan::Problem p = plan::normalise(*completed).problem;
        const uint32_t alignment = operandAlignment ? operandAlignment : plan::Request{}.operand_alignment;
        const plan::TunedRow* const row = rows->tuned.nearest(p, alignment);
        *index = row ? static_cast<uint32_t>(row - rows->rows().data()) : UINT32_MAX;
        if (distance) *distance = row ? plan::tuned_distance(*row, p, alignment).value_or(0) : 0;
        return vk::success(error);
    });
}
