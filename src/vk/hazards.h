// SPDX-License-Identifier: MIT
// Which barriers are missing between the commands of a queue. Pure: it knows memory and barriers, no plans.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "vkgemm/vkgemm.h"

namespace vkgemm::vk {

/// Bytes of a buffer, or of the device's addresses (buffer null).
struct Bytes {
    VkBuffer buffer;
    uint64_t begin, end;

    bool meets(const Bytes& x) const { return buffer == x.buffer && begin < x.end && x.begin < end; }
};

/// What one command does with some memory.
struct Touch {
    uint32_t command;  // its index
    VkgemmSlot slot;   // VKGEMM_SLOT_MAX_ENUM: work of the caller's
    VkPipelineStageFlags2 stage;
    VkAccessFlags2 access;
    Bytes bytes;             // perhaps a piece
    uint64_t begin;          // of the whole
    VkgemmRunAccess stated;  // the whole, as the caller stated it
};

/// One barrier, of all memory or of some bytes.
struct Barrier {
    VkPipelineStageFlags2 src_stage, dst_stage;
    VkAccessFlags2 src_access, dst_access;
    const Bytes* bytes = nullptr;  // null: all memory
};

/// A missing barrier: `second` meets in `bytes` what `first` does there.
struct FoundHazard {
    Touch first, second;
    Bytes bytes;
    enum class Lacks { order, availability, visibility } lacks;
};

/// The address of the first byte of each buffer that some access states with its address.
using BufferAddresses = std::map<VkBuffer, VkDeviceAddress>;
void add_address(BufferAddresses&, const VkgemmRunAccess&);
/// Where `size` bytes from `offset` on are: by address where it is known.
Bytes bytes_of(const BufferAddresses&, VkBuffer, VkDeviceSize offset, VkDeviceSize size);
Bytes bytes_of(const BufferAddresses&, const VkgemmRunAccess&);

/// Follows the commands of a queue in their order.
class HazardFinder {
   public:
    void barrier(const Barrier&);
    void command(const std::vector<Touch>&);
    const std::vector<FoundHazard>& found() const { return found_; }

   private:
    struct Scope {
        VkPipelineStageFlags2 stages;
        VkAccessFlags2 access;
    };
    // What a command did, and what barriers since then guarantee.
    struct Open {
        Touch touch;
        VkPipelineStageFlags2 waits = 0;      // stages that wait for it
        VkPipelineStageFlags2 available = 0;  // stages that wait until its writes are available
        std::vector<Scope> visible{};         // to these are they visible
        bool is_read = false;                 // by a command since then
    };
    void split_at(const Bytes&, bool writes_alone = false);
    void compare(const Open&, const Touch&);
    void replace(const Touch&);
    void mark_read(const Touch&);
    static void apply(const Barrier&, Open&, bool covers);
    static bool is_safe(const Open&, const Touch&);

    std::vector<Open> open_;
    std::vector<FoundHazard> found_;
};

VkgemmHazardKind kind_of(const FoundHazard&);
/// `names` of the commands; an element may be "".
VkgemmHazard to_hazard(const FoundHazard&, const std::vector<std::string>& names);

}  // namespace vkgemm::vk
