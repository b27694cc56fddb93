// SPDX-License-Identifier: MIT
// A frame as a list of passes. Each names what it touches; from that the graph places the barriers. Matrix products are
// passes like any other: what they touch is what vkgemm reports (vkgemmGetRunAccesses).
#pragma once
#include <functional>

#include "gpu.h"

namespace renderer {

using Access = vk::AccessFlagBits2;
using Stage = vk::PipelineStageFlagBits2;
constexpr vk::AccessFlags2 all_writes =
    Access::eShaderStorageWrite | Access::eTransferWrite | Access::eDepthStencilAttachmentWrite;

/// A resource, and how a pass touches it.
struct Use {
    Resource what{};
    vk::AccessFlags2 access{};
    vk::PipelineStageFlags2 stage = Stage::eComputeShader;

    bool reads() const { return bool(access & ~all_writes); }
    bool writes() const { return bool(access & all_writes); }
    /// Whether the later of both has to wait for the earlier.
    bool conflicts(const Use& other) const {
        const Resource &a = what, &b = other.what;
        const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
        return a.id() == b.id() && overlap && (writes() || other.writes());
    }
};
inline Use reads(const Resource& r) { return {r, r.view ? Access::eShaderSampledRead : Access::eShaderStorageRead}; }
inline Use writes(const Resource& r) { return {r, Access::eShaderStorageWrite}; }
inline Use updates(const Resource& r) { return {r, Access::eShaderStorageRead | Access::eShaderStorageWrite}; }
inline Use copied_from(const Resource& r) { return {r, Access::eTransferRead, Stage::eAllTransfer}; }
inline Use copied_to(const Resource& r) { return {r, Access::eTransferWrite, Stage::eAllTransfer}; }

/// 32-bit words of push constants from numbers.
std::vector<uint32_t> words(auto... value) { return {std::bit_cast<uint32_t>(value)...}; }
inline uint32_t divide_up(uint32_t work, uint32_t each) { return (work + each - 1) / each; }

/// How many work groups a pass has. With `arguments`, a VkDispatchIndirectCommand on the GPU states it.
struct Groups {
    uint32_t x = 0, y = 1;
    Resource arguments{};
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
    using Commands = vk::raii::CommandBuffer;
    using Record = std::function<void(const Commands&)>;
    static constexpr uint32_t most_times = 256;

    explicit Graph(Gpu& of) : gpu_(of) {}
    /// Passes that follow belong to this part of the frame: "train", "shade".
    void part(const char* name) { part_ = name; }
    void pass(const std::string& name, std::vector<Use> uses, Record record, const char* kernel = "");
    /// The compute shader of that name. Its buffers are bindings 0 and up, in the order of `uses`; the depth image is
    /// binding 7.
    void compute(const char* name, const std::vector<Use>& uses, const std::vector<uint32_t>& push,
                 const Groups& groups);
    void product(const std::string& name, const vkgemm::Plan& plan, const vkgemm::Run& run);
    void chain(const char* name, const vkgemm::Chain& chain, const std::vector<vkgemm::Run>& runs,
               const Resource& workspace);
    void fill(const Resource& buffer, uint32_t value);
    template <class T>
    void write(const char* name, const Resource& to, std::vector<T> data) {
        pass(name, {copied_to(to)}, [to, data = std::move(data)](const Commands& commands) {
            constexpr size_t most = 65536 / sizeof(T);  // that updateBuffer takes. A loader would stage this.
            for (size_t at = 0; at < data.size(); at += most)
                commands.updateBuffer<T>(to.handle, to.offset + at * sizeof(T),
                                         std::span(data).subspan(at, std::min(data.size() - at, most)));
        });
    }
    /// Copies `from` to the host, which reads `to` after the fence.
    void read_back(const char* name, const Resource& from, const Resource& to);

    /// Records all passes, with their barriers, and forgets them. A timestamp ends each part, or each pass with
    /// `time_each`; returns what ended.
    Times record(const Commands& commands, const vk::raii::QueryPool& queries);
    /// Fills in the times of a submission that has ended, and adds up those of the same name.
    Times finish(const Times& recorded, const vk::raii::QueryPool& queries) const;

    bool time_each = false, print_next = false;  // print_next: print what `record` records next

   private:
    struct Pass {
        std::string name;
        const char *part, *kernel;
        std::vector<Use> uses;
        Record record;
        std::vector<uint64_t> waits_for{};  // ids of what passes before it touch
        vk::MemoryBarrier2 barrier{};       // before it, if it waits
    };
    void place_barriers();
    void bind(const Commands& commands, vk::Pipeline pipeline, const std::vector<Use>& uses,
              const std::vector<uint32_t>& push) const;
    std::string names(const std::vector<uint64_t>& ids) const;
    void print(const Pass& pass) const;

    Gpu& gpu_;
    const char* part_ = "";
    std::vector<Pass> passes_{};
};

}  // namespace renderer
