// SPDX-License-Identifier: MIT
// Work for a GPU while the host has something else to do, so that its clocks stay where they are.
#pragma once
#include <atomic>
#include <functional>
#include <thread>

#include "vkgemm/host.hpp"

namespace vkgemm::tool {

class BackgroundLoad {
   public:
    /// From here on submits what `record` records, `runs` times at once, again and again from a thread of its own.
    BackgroundLoad(const host::Device& device, uint32_t runs, host::RecordRun record);
    BackgroundLoad(const BackgroundLoad&) = delete;
    BackgroundLoad& operator=(const BackgroundLoad&) = delete;
    ~BackgroundLoad();  // returns when the last of it is done

   private:
    std::atomic<bool> enough_ = false;
    std::thread thread_;
};

}  // namespace vkgemm::tool
