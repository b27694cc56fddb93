// SPDX-License-Identifier: MIT
//
// Matrix products of ggml's graphs, recorded by vkgemm into the command buffer that ggml fills. It needs vkgemm and
// Vulkan alone; hook.h translates ggml's types. This header is C++17, as ggml is.
//
//     if (adapter->is_left(hash)) -> ggml's own kernels
//     const Turn turn = adapter->turn_of(product);
//     if (turn.reason == Reason::SLOWER) adapter->leave(hash);
//     if (turn.is_timed()) ... a barrier ..., adapter->stamp(commands, turn, false);
//     Work work;
//     if (turn.reason != Reason::SERVED || adapter->prepare(product, work) != Reason::SERVED) -> ggml's own kernels
//     ... make sure that scratch memory of work.scratch_bytes exists and that nothing uses it; likewise
//         work.rounded_bytes ...
//     if (adapter->record(commands, work, scratch, rounded) != Reason::SERVED) -> ggml's; nothing was recorded
//     if (turn.is_timed()) { adapter->stamp(commands, turn, true); ... a barrier ... }
//
// If it was vkgemm's turn and nothing was recorded: adapter->drop(product).
#ifndef VKGEMM_GGML_ADAPTER_H
#define VKGEMM_GGML_ADAPTER_H

#include <vkgemm/vkgemm.h>

#include <memory>
#include <string>

#include "vkgemm_ggml/products.h"

namespace vkgemm::ggml {

/// Where rows of f32 are rounded to 16 bits before the product (round_rows).
enum class Rounds : uint32_t {
    NEVER,         ///< nor to 8 bits in it (MulMat::is_quantising)
    WHERE_NATIVE,  ///< where the device has native kernels for that type, with which it was measured
    ALWAYS,
};

struct Options {
    uint64_t workspace_limit = uint64_t{512} << 20;  ///< as VkgemmPlanOptions has it; decoded weights need most
    uint32_t most_plans = 1024;                      ///< plans live as long as the adapter
    bool keeps_notes = false;                        ///< for report(), which takes time for each node
    bool takes_all = false;                          ///< nothing is timed, and vkgemm takes all that it can
    Rounds rounds = Rounds::WHERE_NATIVE;
    std::string times{};  ///< a file of times from earlier processes, which new ones are added to; empty: none
};

struct CachedPlan;

/// A product that can be recorded. Valid as long as the adapter.
struct Work {
    const CachedPlan* plan = nullptr;
    Products products{};
    VkgemmRun run{};
    Tensor ids{};                ///< of MUL_MAT_ID
    uint64_t experts = 0;        ///< likewise
    uint64_t scratch_bytes = 0;  ///< 0: none. Its offset must be a multiple of 256
    uint64_t rounded_bytes = 0;  ///< for the rounded rows, likewise
    bool is_rounded = false;     ///< set by the caller: the rounded rows are there from an earlier product
};

/// Whose turn a product is, while both sides are timed and after.
struct Turn {
    Reason reason = Reason::SERVED;  ///< SERVED: vkgemm's. Otherwise ggml's, and why
    int32_t timer = -1;
    bool is_timed() const { return timer >= 0; }
};

/// Hashes one more word. It turns the hash first, because words may be hashes themselves, and the same one twice.
inline uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = ((hash << 23 | hash >> 41) ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

/// The functions are for any thread.
class Adapter {
   public:
    /// `info` as for vkgemmCreateContext. Null if that refuses, with its message in `error`.
    static std::unique_ptr<Adapter> create(const VkgemmContextInfo& info, const Options& options, VkgemmError* error);
    /// First wait for every command buffer with products of this adapter.
    ~Adapter();

    /// Each class of products is timed with either side, a few times in turn, in the command buffers that run anyway.
    /// Then it goes to the faster one.
    Turn turn_of(const MulMat& product);
    /// Writes a timestamp before or after what is timed; nothing else must overlap it.
    void stamp(VkCommandBuffer commands, const Turn& turn, bool is_end);
    /// vkgemm did not record what was its turn. The class is timed no more, and its products are not held back.
    void drop(const MulMat& product);

    /// A short cut in front of turn_of for products that are left to ggml because it was faster. `hash` is of all that
    /// tells classes apart, by mixed(). True: it was given to leave() before, and the product is counted. False while
    /// products are noted, or all are taken, and once another class has taken its place in a table.
    bool is_left(uint64_t hash);
    /// turn_of has answered SLOWER, which it will for this class as long as the adapter lives.
    void leave(uint64_t hash);

    /// Changes Options::takes_all.
    void take_all(bool takes_all);
    /// Changes Options::keeps_notes for what note() is told from now on.
    void keep_notes(bool keeps_notes);

    /// Finds or makes the plan. Slow (it compiles pipelines) for a class of products that was not seen before.
    Reason prepare(const MulMat& product, Work& work);

    /// Records into `commands`, without a barrier before or after. `scratch` is a buffer with an offset and a size; if
    /// the product has `ids`, it needs VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT and ..._SHADER_DEVICE_ADDRESS_BIT. `rounded`
    /// is another, for work.rounded_bytes. If the answer is not SERVED, nothing was recorded.
    Reason record(VkCommandBuffer commands, const Work& work, const VkgemmOperand& scratch,
                  const VkgemmOperand& rounded);

    /// Notes where a product went.
    void note(const MulMat& product, const Work& work, Reason reason);
    uint64_t count_of(Reason reason) const;
    size_t plan_count() const;
    /// The notes as text: how many products vkgemm recorded, the reasons against the others, and with
    /// Options::keeps_notes each class of products.
    std::string report() const;

   private:
    struct State;
    explicit Adapter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace vkgemm::ggml
#endif
