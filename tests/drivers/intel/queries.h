// SPDX-License-Identifier: MIT
#pragma once

struct drm_xe_device_query;

namespace vkgemm::test::intel {

/// Returns 0, or an error number of errno.h.
int answer_query(drm_xe_device_query& query);

}  // namespace vkgemm::test::intel
