// SPDX-License-Identifier: MIT
#include "measure/background_load.h"

#include <utility>

namespace vkgemm::tool {

BackgroundLoad::BackgroundLoad(const host::Device& device, uint32_t runs, host::RecordRun record)
    : thread_([this, &device, runs, record = std::move(record)] {
          // What goes wrong here goes wrong for those who ask for results, too, and they say it.
          while (!enough_ && device.time(runs, record)) {
          }
      }) {}

BackgroundLoad::~BackgroundLoad() {
    enough_ = true;
    thread_.join();
}

}  // namespace vkgemm::tool
