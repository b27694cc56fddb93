// SPDX-License-Identifier: MIT
// A frame as a list of passes. Each names what it touches; from that the graph places the barriers. Matrix products are
// passes like any other: what they touch is what vkgemm reports (vkgemmGetRunAccesses). A barrier makes all later
// passes wait for all earlier ones, so it goes where there is one already, if that is behind what it waits for.
#pragma once
#include <functional>
#include <map>

#include "gpu.h"

namespace renderer {

/// A range of a buffer, or an image, and how a pass touches it.
struct Use {
    VkBuffer buffer = VK_NULL_HANDLE;
    Image image{};
    VkPipelineStageFlags2 stage = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    VkAccessFlags2 access = 0;
    VkDeviceSize offset = 0, size = VK_WHOLE_SIZE;

    bool writes() const;
    uint64_t bytes() const;  // read and written
    uint64_t key() const { return buffer ? std::bit_cast<uint64_t>(buffer) : std::bit_cast<uint64_t>(image.handle); }
};

Use reads(const Buffer& buffer);
Use writes(const Buffer& buffer);
Use updates(const Buffer& buffer);
Use samples(const Image& image);
Use writes(const Image& image);
Use copies(const Buffer& buffer, VkAccessFlags2 access);  // by the transfer stage
Use copies(const Image& image, VkAccessFlags2 access);

/// How long a part of a frame took, or each of its passes.
struct Time {
    std::string name{}, kernel{};  // kernel: vkgemm's, of a product
    double milliseconds = 0;
    uint64_t bytes = 0;  // that its passes read and write at least, if each touches all of what it names once
};
using Times = std::vector<Time>;  // in the order of the frame, each name once
double milliseconds_of(const Times& times, const std::string& name);

class Graph {
   public:
    explicit Graph(Gpu& of) : gpu_(of) {}

    /// A compute shader. Its buffers are bindings 0 and up, in the order of `uses`; its images 7 and up.
    void compute(const char* name, VkPipeline pipeline, std::vector<Use> uses, std::vector<uint32_t> push, uint32_t x,
                 uint32_t y = 1);
    /// The same with the number of work groups from `arguments`.
    void compute(const char* name, VkPipeline pipeline, std::vector<Use> uses, std::vector<uint32_t> push,
                 const Buffer& arguments, VkDeviceSize offset);
    void product(const char* name, const vkgemm::Plan& plan, const vkgemm::Run& run);
    void pass(const char* name, std::vector<Use> uses, std::function<void(VkCommandBuffer)> record);
    void fill(const char* name, const Buffer& buffer, uint32_t word);
    void copy(const char* name, const Buffer& from, const Buffer& to);

    /// Passes that follow belong to this part of the frame: "train", "draw". Their times are added up.
    void part(const char* name) { part_ = name; }
    /// Records all passes, with their barriers, and forgets them. Timestamps go to `queries` as far as it has them; a
    /// null pool gets none.
    void record(VkCommandBuffer commands, VkQueryPool queries, uint32_t query_count);
    /// The times of the frame whose timestamps are in `queries`, which has ended, by part.
    Times times(VkQueryPool queries, uint64_t frame) const;
    uint64_t recorded() const { return frames_; }
    /// From now on each pass is a part of its own.
    void time_each(bool on) { each_ = on; }
    /// Prints what the next call of `record` records.
    void print_next(bool on) { print_ = on; }
    /// Forgets all handles, because a resize destroyed some. The next frame begins with a barrier for everything.
    void forget() { history_.clear(), forgot_ = true; }

   private:
    struct Pass {
        const char* name;
        const char* part;
        std::vector<Use> uses;
        std::function<void(VkCommandBuffer)> record;
        std::string detail{};
    };
    /// An earlier access that a later one may have to wait for. `seen`: for which reads a barrier was placed already.
    struct Past {
        Use use;
        uint64_t pass;  // by number, from the first frame on
        VkPipelineStageFlags2 seen_stage = 0;
        VkAccessFlags2 seen_access = 0;
    };
    struct Barriers {
        std::vector<VkBufferMemoryBarrier2> buffers{};
        std::vector<VkImageMemoryBarrier2> images{};
        size_t count() const { return buffers.size() + images.size(); }
    };
    uint64_t order(const Use& use, uint64_t pass, Barriers& barriers);
    std::vector<Barriers> barriers_of_passes();
    void bind(VkCommandBuffer commands, VkPipeline pipeline, const std::vector<Use>& uses,
              const std::vector<uint32_t>& push) const;
    void print(const Pass& pass, size_t barriers) const;

    Gpu& gpu_;
    const char* part_ = "";
    bool print_ = false, each_ = false, forgot_ = false;
    std::vector<Pass> passes_{};
    std::unordered_map<uint64_t, std::vector<Past>> history_{};
    std::map<uint64_t, Times> parts_{};  // by frame: what ends at each timestamp
    uint64_t frames_ = 0, recorded_passes_ = 0;
};

}  // namespace renderer
