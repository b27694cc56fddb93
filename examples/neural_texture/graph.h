// SPDX-License-Identifier: MIT
// A frame as a list of passes. Each names what it touches; from that the graph places the barriers. Matrix products are
// passes like any other: what they touch is what vkgemm reports (vkgemmGetRunAccesses).
#pragma once
#include <functional>

#include "gpu.h"

namespace renderer {

/// A range of a buffer, or an image, and how a pass touches it.
struct Use {
    uint64_t handle = 0;
    VkBuffer buffer = VK_NULL_HANDLE;   // null: an image
    VkImageView view = VK_NULL_HANDLE;  // null: a buffer
    VkDeviceSize offset = 0, size = 0;  // of an image: 0 and its bytes
    VkAccessFlags2 access = 0;
    VkPipelineStageFlags2 stage = 0;

    bool reads() const;
    bool writes() const;
    /// Whether the later of both has to wait for the earlier.
    bool conflicts(const Use& other) const;
};
constexpr VkPipelineStageFlags2 in_compute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
Use use(const Buffer& b, VkAccessFlags2 access, VkPipelineStageFlags2 stage = in_compute);
Use use(const Image& i, VkAccessFlags2 access, VkPipelineStageFlags2 stage = in_compute);
inline Use reads(const Buffer& what) { return use(what, VK_ACCESS_2_SHADER_STORAGE_READ_BIT); }
inline Use reads(const Image& what) { return use(what, VK_ACCESS_2_SHADER_SAMPLED_READ_BIT); }
inline Use writes(const Buffer& what) { return use(what, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT); }
inline Use updates(const Buffer& what) {
    return use(what, VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
}
inline Use copied_from(const Buffer& what) {
    return use(what, VK_ACCESS_2_TRANSFER_READ_BIT, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT);
}
inline Use copied_to(const Buffer& what) {
    return use(what, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT);
}

/// 32-bit words of push constants from numbers.
std::vector<uint32_t> words(auto... value) { return {std::bit_cast<uint32_t>(value)...}; }
inline uint32_t divide_up(uint32_t work, uint32_t each) { return (work + each - 1) / each; }

/// How many work groups a pass has. With `arguments`, a VkDispatchIndirectCommand on the GPU states it.
struct Groups {
    uint32_t x = 0, y = 1;
    Buffer arguments{};
};

/// How long a part of a frame took, or each of its passes.
struct Time {
    std::string name{}, kernel{};  // kernel: vkgemm's, of a product
    uint64_t bytes = 0;            // that its passes read and write at least, if each touches all that it names once
    double milliseconds = 0;
};
using Times = std::vector<Time>;  // in the order of the frame

class Graph {
   public:
    using Record = std::function<void(VkCommandBuffer)>;

    explicit Graph(Gpu& of) : gpu_(of) {}
    /// Passes that follow belong to this part of the frame: "train", "shade".
    void part(const char* name) { part_ = name; }
    void pass(const std::string& name, std::vector<Use> uses, Record record, const char* kernel = "");
    /// A compute shader. Its buffers are bindings 0 and up, in the order of `uses`; the depth image is binding 7.
    void compute(const std::string& name, const char* shader, std::vector<Use> uses, std::vector<uint32_t> push,
                 const Groups& groups);
    void product(const std::string& name, const vkgemm::Plan& plan, const vkgemm::Run& run);
    void fill(const Buffer& buffer, uint32_t value);
    void write(const char* name, const Buffer& buffer, std::vector<uint32_t> data, VkDeviceSize offset = 0);
    /// Copies `from` to the host, which reads `to` after the fence.
    void read_back(const char* name, const Buffer& from, const Buffer& to);

    /// Records all passes, with their barriers, and forgets them. A timestamp ends each part, or each pass with
    /// `time_each`; returns what ended.
    Times record(VkCommandBuffer commands, VkQueryPool queries, uint32_t query_count);
    /// Fills in the times of a submission that has ended, and adds up those of the same name.
    Times finish(const Times& recorded, VkQueryPool queries) const;

    bool time_each = false, print_next = false;  // print_next: print what `record` records next

   private:
    struct Pass {
        std::string name;
        const char *part, *kernel;
        std::vector<Use> uses;
        Record record;
        std::vector<uint64_t> waits_for{};  // handles of what passes before it touch
        VkMemoryBarrier2 barrier{};         // before it, if it waits
    };
    void place_barriers();
    void bind(VkCommandBuffer commands, VkPipeline pipeline, const std::vector<Use>& uses,
              const std::vector<uint32_t>& push) const;
    std::string names(const std::vector<uint64_t>& handles) const;
    void print(const Pass& pass) const;

    Gpu& gpu_;
    const char* part_ = "";
    std::vector<Pass> passes_{};
};

}  // namespace renderer
