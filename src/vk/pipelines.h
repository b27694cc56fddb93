// SPDX-License-Identifier: MIT
// Pipelines: made once for each kernel, tile and set of problem constants, shared by plans, safe from several threads.
#pragma once
#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/chain_key.h"
#include "plan/steps/buckets.h"
#include "plan/steps/pipeline_key.h"
#include "vk/functions.h"
#include "vk/native.h"

namespace vkgemm::vk {

/// What the context lends to everything that makes Vulkan objects.
struct Device {
    VkDevice handle = VK_NULL_HANDLE;
    DeviceFunctions functions;
    const VkAllocationCallbacks* allocator = nullptr;  // may be null
    VkPipelineCache cache = VK_NULL_HANDLE;            // may be null; the caller's
    plan::FeatureSet features = 0;
    bool requires_subgroups = false;  // a pipeline may ask for a subgroup size
    /// The caller made `cache` with VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT, which no function of Vulkan
    /// reveals: pipelines are then compiled one at a time. Otherwise they are compiled in parallel.
    bool cache_externally_synchronized = false;
};

/// What a step runs: a pipeline, or a function in machine code.
struct Program {
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkCuFunctionNVX function = VK_NULL_HANDLE;

    explicit operator bool() const { return pipeline || function; }
};

class Pipelines {
    struct Entry;

   public:
    /// A pipeline of the table that stays there at least as long as this.
    class Use {
       public:
        Use() = default;
        Use(Use&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), entry_(other.entry_) {}
        Use& operator=(Use&& other) noexcept {
            std::swap(owner_, other.owner_);
            std::swap(entry_, other.entry_);
            return *this;
        }
        ~Use() {
            if (owner_) owner_->release(*entry_);
        }
        Program program() const { return entry_->program; }

       private:
        friend class Pipelines;
        Use(Pipelines& owner, Entry& entry) : owner_(&owner), entry_(&entry) {}
        Pipelines* owner_ = nullptr;
        Entry* entry_ = nullptr;
    };

    Pipelines() = default;
    Pipelines(const Pipelines&) = delete;
    Pipelines& operator=(const Pipelines&) = delete;
    ~Pipelines();

    /// Makes the pipeline layouts that the device allows. Once, before anything else; `device` must outlive this.
    std::optional<Status> init(const Device& device, uint32_t max_push_constant_bytes);

    /// The pipeline of one step. The first thread that asks compiles it; others that want the same one wait for it, and
    /// different ones are compiled in parallel. A failure is not kept: the next call tries again.
    plan::Result<Use> get(const plan::Step&, plan::Binding, bool capture_statistics);

    /// The pipeline of a chain that is one dispatch.
    plan::Result<Use> get(const plan::ChainKey&, bool capture_statistics);

    /// As the first get(), if it is compiled already; nullopt if it is not, or not yet.
    std::optional<Use> find(const plan::Step&, plan::Binding, bool capture_statistics);

    /// Destroys the pipelines without a Use. Returns their number.
    uint32_t trim();

    /// The keys of all that are compiled, sorted; without those that capture statistics.
    std::vector<std::string> keys();

    VkPipelineLayout chain_layout() const { return chain_layout_; }
    VkPipelineLayout layout(plan::Binding b, const plan::Module& m) const {
        return layouts_[m.accumulate == plan::f64][static_cast<size_t>(b)];
    }

   private:
    struct Key {
        const plan::Module* module;  // null: of a chain
        plan::ConstantValues constants;
        plan::Binding binding;
        bool is_grouped, capture, dispatch_base;
        plan::ChainKey chain{};
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        size_t operator()(const Key&) const;
    };
    struct Entry {
        bool compiling = false;
        uint32_t uses = 0;  // also of threads that wait for it
        Program program;
        std::string text;  // of its key
    };
    /// What one vkCreateComputePipelines is given, beside the module.
    struct Parameters {
        std::string name;
        std::span<const VkSpecializationMapEntry> entries;
        std::span<const uint32_t> constants;
        uint32_t subgroup;  // 0: any size
        VkPipelineLayout layout;
        VkPipelineCreateFlags flags;
    };

    void release(Entry&);
    std::optional<Status> make_chain_layout(uint32_t max_push_constant_bytes);
    template <class TextOf, class Make>
    plan::Result<Use> get(const Key&, TextOf, Make);
    static Key table_key(const plan::Step&, plan::Binding, bool capture);
    plan::Result<Program> make(const plan::Step&, const Key&);
    void destroy(const Key&, const Program&);
    plan::Result<VkPipeline> compile(const plan::Step&, const Key&);
    plan::Result<VkPipeline> compile(const plan::ChainKey&, bool capture);
    plan::Result<VkPipeline> create(VkShaderModule, const Parameters&);

    const Device* device_ = nullptr;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layouts_[2][2] = {};             // of modules that sum in f64, or not; by Binding
    VkPipelineLayout chain_layout_ = VK_NULL_HANDLE;  // of all chains, whatever bytes they take
    std::mutex mutex_;                                // of entries_
    std::mutex cache_mutex_;                          // of device_->cache, where that is externally synchronised
    std::condition_variable compiled_;
    NativeModules native_;
    std::unordered_map<Key, Entry, Hash> entries_;
};

/// Names an object for debuggers and the validation layer, if the function for it is there.
template <class Handle>
void set_name(const Device& d, VkObjectType type, Handle handle, const char* name) {
    VkDebugUtilsObjectNameInfoEXT label = {};
    label.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT;
    label.objectType = type;
    label.objectHandle = reinterpret_cast<uint64_t>(handle);
    label.pObjectName = name;
    if (d.functions.SetDebugUtilsObjectNameEXT) d.functions.SetDebugUtilsObjectNameEXT(d.handle, &label);
}

}  // namespace vkgemm::vk
