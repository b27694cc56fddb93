// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/adapter.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vkgemm/elements.hpp>
#include <vkgemm/text.hpp>

#include "vkgemm_ggml/passes.h"

namespace vkgemm::ggml {

// What two products must share to share a plan.
using PlanKey = std::array<uint64_t, 22>;
struct PlanHash {
    size_t operator()(const PlanKey& key) const {
        uint64_t h = 0xcbf29ce484222325;
        for (const uint64_t word : key) h = (h ^ word) * 0x100000001b3, h ^= h >> 29;
        return static_cast<size_t>(h);
    }
};

struct CachedPlan {
    VkgemmPlan handle = nullptr;  // null: the reason why there is none
    Reason reason = Reason::SERVED;
    std::string detail{};  // the kernel, or the words of the refusal
    uint64_t workspaceBytes = 0;
};

namespace {

constexpr uint64_t part = 256;  // of the scratch memory: a multiple of every alignment of a workspace
constexpr size_t mostNotes = 4096;
uint64_t roundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

PlanKey keyOf(const Products& x) {
    const VkgemmProblem& p = x.problem;
    const auto packed = [](const VkgemmMatrix& m) { return uint64_t(m.type) << 1 | uint64_t(m.layout); };
    return {p.m,
            p.n,
            p.k,
            p.batch,
            packed(p.a) << 32 | packed(p.b) << 16 | packed(p.d),
            p.a.ld,
            p.b.ld,
            p.d.ld,
            p.a.batchStride,
            p.b.batchStride,
            p.d.batchStride,
            p.outerBatch,
            p.outerStrideA,
            p.outerStrideB,
            p.outerStrideD,
            p.ratioB,
            p.outerRatioB,
            uint64_t(p.accuracy),
            p.upTo,
            uint64_t(p.grouping),
            p.indicesPerRow,
            x.alignment};
}

// A product of one matrix serves every number of rows up to the next power of two, so that prompts of any length share
// a few plans. One row has a plan of its own, because its kernel is another one. With a batch the strides change with
// the rows, and a plan has fixed ones.
void boundRows(Products& x) {
    VkgemmProblem& p = x.problem;
    if (p.grouping != VKGEMM_GROUPING_NONE || p.batch > 1 || p.m == 1) return;
    if (p.a.layout != VKGEMM_LAYOUT_ROW_MAJOR || p.d.layout != VKGEMM_LAYOUT_ROW_MAJOR) return;
    p.m = std::bit_ceil(p.m);
    p.upTo = VKGEMM_UP_TO_M;
}

// Rows of f32 beside weights of 16 bits become rows of their type, which are packed, for kernels that want one type.
// ggml's kernels for VK_NV_cooperative_matrix2 have them rounded like that, too, and bf16 weights have it everywhere.
// Few rows are bound by the weights. The answer is the leading dimension before, 0 if it was left.
constexpr uint64_t fewestRounded = 9;
uint64_t roundRows(const MulMat& x, Products& out) {
    VkgemmProblem& p = out.problem;
    const bool isFor = x.src0.type == VKGEMM_TYPE_F16 || x.src0.type == VKGEMM_TYPE_BF16;
    if (!isFor || x.src1.type != VKGEMM_TYPE_F32 || x.isPrecise || p.grouping != VKGEMM_GROUPING_NONE) return 0;
    if (p.batch > 1 || out.parts > 1 || p.a.layout != VKGEMM_LAYOUT_ROW_MAJOR) return 0;
    if (out.rows < fewestRounded || out.rows > Rounding::mostRows || out.rows * p.a.ld > INT32_MAX) return 0;
    if (p.k % 8 || p.a.ld % 4 || x.src1.offset % 16) return 0;
    const uint64_t apart = p.a.ld;
    p.a.type = x.src0.type, p.a.ld = p.k;
    p.accuracy = VKGEMM_ACCURACY_DEFAULT;
    return apart;
}

// Where the parts of the scratch memory are: the workspace first, and then what a product with groups or with rounded
// rows needs.
struct Places {
    uint64_t table, lists, end;
};
uint64_t roundedPlaceOf(const Work& work) { return roundUp(work.plan->workspaceBytes, part); }
uint64_t roundedBytesOf(const Work& work) { return work.products.problem.m * work.products.problem.k * 2; }
Places placesOf(const Work& work) {
    const VkgemmProblem& p = work.products.problem;
    const uint64_t table = roundUp(work.plan->workspaceBytes, part);
    const uint64_t lists = roundUp(table + p.batch * sizeof(VkgemmGroup), part);
    return {table, lists, lists + p.m * sizeof(uint32_t)};
}

std::string nameOf(VkgemmType type) { return type ? std::string(typeName(type)) : "other"; }

// MUL_MAT q4_k*f32 4096x512x14336 batch 1x1: M, N and K as ggml counts them.
std::string textOf(const MulMat& x) {
    const auto number = [](uint64_t n) { return std::to_string(n); };
    std::string s = x.ids ? "MUL_MAT_ID " : "MUL_MAT ";
    s += nameOf(x.src0.type) + "*" + nameOf(x.src1.type) + " " + number(x.src0.ne[1]) + "x" +
         number(x.src1.ne[x.ids ? 2 : 1]) + "x" + number(x.src0.ne[0]);
    if (x.ids) return s + ", " + number(x.ids->ne[0]) + " of " + number(x.src0.ne[2]) + " experts";
    if (x.dst.ne[2] * x.dst.ne[3] > 1) s += ", batch " + number(x.dst.ne[2]) + "x" + number(x.dst.ne[3]);
    return s;
}

// Products that were measured to be as fast as ggml's, but for 5 % (docs/ggml.md has the figures): those of `type`
// weights by from ... to rows of f32, which for MUL_MAT_ID are tokens. All others stay with ggml. VKGEMM_TYPE_DEFAULT
// stands for the block formats without rows of their own; they have those of q4_k, which takes most to decode.
struct Faster {
    bool hasIds;
    VkgemmType type;
    uint64_t from, to;
    bool ifRounded = false;  // only if the rows are rounded first
};
constexpr uint64_t unbounded = UINT64_MAX;
constexpr Faster faster[] = {
    {false, VKGEMM_TYPE_F16, 4, 4},
    {false, VKGEMM_TYPE_F16, 9, 32},
    {false, VKGEMM_TYPE_F16, 257, unbounded},
    {false, VKGEMM_TYPE_F16, 32, unbounded, true},  // measured at 64 and 512
    {false, VKGEMM_TYPE_BF16, 2, 8},
    {false, VKGEMM_TYPE_BF16, 32, unbounded, true},  // measured at 32, 64 and 512
    {false, VKGEMM_TYPE_F32, 8, 32},
    {false, VKGEMM_TYPE_Q8_0, 1, 1},
    {false, VKGEMM_TYPE_Q8_0, 9, 32},
    {false, VKGEMM_TYPE_Q8_0, 257, unbounded},
    {false, VKGEMM_TYPE_Q4_0, 9, unbounded},
    {false, VKGEMM_TYPE_MXFP4, 1, 1},
    {false, VKGEMM_TYPE_MXFP4, 9, unbounded},
    {false, VKGEMM_TYPE_DEFAULT, 9, 32},
    {false, VKGEMM_TYPE_DEFAULT, 257, unbounded},
    {true, VKGEMM_TYPE_F16, 32, unbounded},
    {true, VKGEMM_TYPE_Q8_0, 32, 255},
    {true, VKGEMM_TYPE_Q4_0, 32, unbounded},
    {true, VKGEMM_TYPE_MXFP4, 32, unbounded},
    {true, VKGEMM_TYPE_DEFAULT, 32, 127},
};
bool isFaster(const MulMat& x, bool isRounded) {
    const bool hasIds = x.ids != nullptr;
    const uint64_t rows = x.src1.ne[hasIds ? 2 : 1];
    if (!hasIds && x.dst.ne[2] * x.dst.ne[3] > 1) return false;  // not measured
    const auto isListed = [&](VkgemmType type, bool atAnySize) {
        return std::any_of(std::begin(faster), std::end(faster), [&](const Faster& row) {
            return row.hasIds == hasIds && row.type == type && (isRounded || !row.ifRounded) &&
                   (atAnySize || (row.from <= rows && rows <= row.to));
        });
    };
    const bool isOther = blockSize(x.src0.type).elements > 1 && !isListed(x.src0.type, true);
    return isListed(isOther ? VKGEMM_TYPE_DEFAULT : x.src0.type, false);
}

// Whether the device loads a native kernel for rows of `type` and weights of `type`, of a size that was measured.
bool hasNative(VkgemmContext context, VkgemmType type, uint64_t workspaceLimit) {
    VkgemmProblem problem{};
    problem.structSize = sizeof problem;
    problem.m = 512, problem.n = 4096, problem.k = 14336, problem.batch = 1;
    problem.a.type = problem.b.type = type, problem.d.type = VKGEMM_TYPE_F32;
    problem.b.layout = VKGEMM_LAYOUT_COLUMN_MAJOR;
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.flags = VKGEMM_PLAN_DEFER_COMPILE;  // unlike a dry plan it loads machine code
    options.workspaceLimit = workspaceLimit;
    VkgemmPlan plan = nullptr;
    if (vkgemmCreatePlan(context, &problem, &options, &plan, nullptr) < 0) return false;
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    vkgemmGetPlanInfo(plan, &info);
    bool isNative = false;
    for (uint32_t i = 0; i < vkgemmKernelCount(); ++i) {
        VkgemmKernelInfo kernel{};
        kernel.structSize = sizeof kernel;
        VkgemmKernelTraits traits{};
        traits.structSize = sizeof traits;
        if (vkgemmGetKernel(i, &kernel) < 0 || std::string_view(kernel.name) != info.kernel) continue;
        if (vkgemmGetKernelTraits(i, nullptr, &traits, nullptr) >= 0) isNative = traits.native != 0;
    }
    vkgemmDestroyPlan(plan);
    return isNative;
}

// Whether bufferDeviceAddress was enabled.
bool hasAddresses(const VkPhysicalDeviceFeatures2* enabled) {
    for (const auto* x = reinterpret_cast<const VkBaseInStructure*>(enabled); x; x = x->pNext) {
        if (x->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            return reinterpret_cast<const VkPhysicalDeviceVulkan12Features*>(x)->bufferDeviceAddress;
        if (x->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
            return reinterpret_cast<const VkPhysicalDeviceBufferDeviceAddressFeatures*>(x)->bufferDeviceAddress;
    }
    return false;
}

// Calls each(bytes of A, of B, of D) for every product that is recorded.
template <class Each>
bool forEachPart(const Products& x, Each&& each) {
    const auto& l = x.loops;
    for (uint64_t i = 0; i < l[0].count; ++i)
        for (uint64_t j = 0; j < l[1].count; ++j)
            for (uint64_t k = 0; k < l[2].count; ++k)
                for (uint64_t n = 0; n < l[3].count; ++n) {
                    const auto sum = [&](uint64_t Level::*s) {
                        return i * (l[0].*s) + j * (l[1].*s) + k * (l[2].*s) + n * (l[3].*s);
                    };
                    if (!each(sum(&Level::a), sum(&Level::b), sum(&Level::d))) return false;
                }
    return true;
}

}  // namespace

struct Adapter::State {
    State(VkgemmContext made, const VkgemmContextInfo& info, const Options& chosen)
        : context(made),
          options(chosen),
          experts(info, hasAddresses(info.enabledFeatures)),
          rounding(info, hasAddresses(info.enabledFeatures)) {
        const auto mayRound = [&](VkgemmType type) {
            if (chosen.rounds == Rounds::NEVER || !rounding.works()) return false;
            return chosen.rounds == Rounds::ALWAYS || hasNative(context, type, chosen.workspaceLimit);
        };
        roundsF16 = mayRound(VKGEMM_TYPE_F16), roundsBf16 = mayRound(VKGEMM_TYPE_BF16);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        for (auto& [key, plan] : plans)
            if (plan->handle) vkgemmDestroyPlan(plan->handle);
        vkgemmDestroyContext(context);
    }

    VkgemmContext context;
    Options options;
    Experts experts;
    Rounding rounding;
    bool roundsF16 = false, roundsBf16 = false;
    std::mutex mutex;  // of plans and notes
    std::unordered_map<PlanKey, std::unique_ptr<CachedPlan>, PlanHash> plans;
    std::array<std::atomic<uint64_t>, static_cast<size_t>(Reason::COUNT)> totals{};
    std::map<std::string, uint64_t> notes;
    uint64_t unnoted = 0;  // of classes beyond mostNotes
};

Adapter::Adapter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Adapter::~Adapter() = default;

std::unique_ptr<Adapter> Adapter::create(const VkgemmContextInfo& info, const Options& options, VkgemmError* error) {
    VkgemmContext context = nullptr;
    if (vkgemmCreateContext(&info, &context, error) < 0) return nullptr;
    return std::unique_ptr<Adapter>(new Adapter(std::make_unique<State>(context, info, options)));
}

namespace {

std::unique_ptr<CachedPlan> makePlan(VkgemmContext context, const Options& chosen, const Products& x) {
    auto out = std::make_unique<CachedPlan>();
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.workspaceLimit = chosen.workspaceLimit;
    options.operandAlignment = x.alignment;
    VkgemmError error{};
    const VkgemmResult made = vkgemmCreatePlan(context, &x.problem, &options, &out->handle, &error);
    if (made < 0) {
        out->reason = made == VKGEMM_ERROR_LIMIT ? Reason::LIMIT : Reason::PLAN;
        out->detail = error.text;
        return out;
    }
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    vkgemmGetPlanInfo(out->handle, &info);
    out->detail = info.kernel;
    out->workspaceBytes = info.requiredBytes[VKGEMM_SLOT_WORKSPACE];
    return out;
}

VkgemmOperand operandOf(const Tensor& x) { return {x.buffer, x.offset, 0, 0}; }

}  // namespace

Reason Adapter::prepare(const MulMat& product, Work& work) {
    work = {};
    const Reason fits = product.ids ? describeExperts(product, work.products) : describe(product, work.products);
    if (fits != Reason::SERVED) return fits;
    if (product.ids && (!state_->experts.works() || product.src0.ne[2] > Experts::mostExperts)) return Reason::EXPERTS;
    if (product.src0.type == VKGEMM_TYPE_BF16 ? state_->roundsBf16 : state_->roundsF16)
        work.apart = roundRows(product, work.products);
    if (!state_->options.takesAll && !isFaster(product, work.apart != 0)) return Reason::POLICY;
    boundRows(work.products);
    {
        const std::lock_guard lock(state_->mutex);
        auto& plans = state_->plans;
        const PlanKey key = keyOf(work.products);
        auto at = plans.find(key);
        if (at == plans.end()) {
            if (plans.size() >= state_->options.mostPlans) return Reason::CACHE;
            at = plans.emplace(key, makePlan(state_->context, state_->options, work.products)).first;
        }
        work.plan = at->second.get();
    }
    if (work.plan->reason != Reason::SERVED) return work.plan->reason;

    const VkgemmProblem& p = work.products.problem;
    VkgemmRun& run = work.run;
    run.structSize = sizeof run;
    run.a = operandOf(product.src1), run.b = operandOf(product.src0), run.d = operandOf(product.dst);
    if (p.upTo && p.grouping == VKGEMM_GROUPING_NONE) {
        run.flags = VKGEMM_RECORD_SIZES;
        run.m = work.products.rows, run.n = p.n, run.k = p.k, run.batch = p.batch;
    }
    work.scratchBytes = work.plan->workspaceBytes;
    if (product.ids) work.ids = *product.ids, work.scratchBytes = placesOf(work).end;
    if (work.apart) work.scratchBytes = roundedPlaceOf(work) + roundedBytesOf(work);
    return Reason::SERVED;
}

Reason Adapter::record(VkCommandBuffer commands, const Work& work, const VkgemmOperand& scratch) {
    const VkgemmProblem& p = work.products.problem;
    const bool isGrouped = p.grouping != VKGEMM_GROUPING_NONE;
    if (work.scratchBytes && (!scratch.buffer || scratch.offset % part || scratch.size < work.scratchBytes))
        return Reason::SCRATCH;
    VkgemmRun run = work.run;
    if (work.plan->workspaceBytes) run.workspace = {scratch.buffer, scratch.offset, work.plan->workspaceBytes, 0};
    if (isGrouped) {
        const Places places = placesOf(work);
        run.groups = {scratch.buffer, scratch.offset + places.table, p.batch * sizeof(VkgemmGroup), 0};
        run.indices = {scratch.buffer, scratch.offset + places.lists, p.m * sizeof(uint32_t), 0};
    }
    if (work.apart) run.a = {scratch.buffer, scratch.offset + roundedPlaceOf(work), roundedBytesOf(work), 0};
    const auto eachRun = [&](auto&& call) {
        return forEachPart(work.products, [&](uint64_t a, uint64_t b, uint64_t d) {
            VkgemmRun one = run;
            one.a.offset += a, one.b.offset += b, one.d.offset += d;
            return call(one);
        });
    };
    const auto isFine = [&](const VkgemmRun& one) { return vkgemmCheckRun(work.plan->handle, &one, nullptr) >= 0; };
    if (!eachRun(isFine)) return Reason::RUN;

    if (isGrouped) {
        const Experts& experts = state_->experts;
        const uint64_t base = experts.addressOf(scratch.buffer);
        const VkgemmMatrix& b = p.b;
        experts.record(commands,
                       {experts.addressOf(work.ids.buffer) + work.ids.offset, base + run.groups.offset,
                        base + run.indices.offset, b.batchStride, static_cast<uint32_t>(p.batch),
                        static_cast<uint32_t>(work.ids.ne[0]), static_cast<uint32_t>(work.ids.ne[1]),
                        static_cast<uint32_t>(work.ids.nb[0] / 4), static_cast<uint32_t>(work.ids.nb[1] / 4)});
    }
    if (work.apart) {
        const Rounding& rounding = state_->rounding;
        const VkgemmOperand& from = work.run.a;
        rounding.record(
            commands,
            {rounding.addressOf(from.buffer) + from.offset, rounding.addressOf(scratch.buffer) + run.a.offset,
             static_cast<uint32_t>(p.k / 4), static_cast<uint32_t>(work.apart / 4), p.a.type == VKGEMM_TYPE_BF16},
            static_cast<uint32_t>(work.products.rows));
    }
    bool isFirst = true;
    eachRun([&](VkgemmRun& one) {
        if (!isFirst && run.workspace.buffer) one.flags |= VKGEMM_RECORD_BARRIER_BEFORE;  // they share the workspace
        isFirst = false;
        return vkgemmRecord(work.plan->handle, commands, &one, nullptr) >= 0;
    });
    return Reason::SERVED;
}

void Adapter::note(const MulMat& product, const Work& work, Reason reason) {
    ++state_->totals[static_cast<size_t>(reason)];
    if (!state_->options.keepsNotes) return;
    std::string line = textOf(product) + ": " + vkgemm::ggml::textOf(reason);
    if (work.plan && !work.plan->detail.empty()) line += " (" + work.plan->detail + ")";
    if (reason == Reason::SERVED && work.products.parts > 1)
        line += ", in " + std::to_string(work.products.parts) + " parts";
    const std::lock_guard lock(state_->mutex);
    if (const auto at = state_->notes.find(line); at != state_->notes.end())
        ++at->second;
    else if (state_->notes.size() < mostNotes)
        state_->notes.emplace(line, 1);
    else
        ++state_->unnoted;
}

uint64_t Adapter::countOf(Reason reason) const { return state_->totals[static_cast<size_t>(reason)]; }
size_t Adapter::planCount() const {
    const std::lock_guard lock(state_->mutex);
    return state_->plans.size();
}

std::string Adapter::report() const {
    uint64_t all = 0;
    for (const auto& total : state_->totals) all += total;
    std::string out = std::to_string(countOf(Reason::SERVED)) + " of " + std::to_string(all) + " products, with " +
                      std::to_string(planCount()) + " plans\n";
    for (uint32_t i = 1; i < static_cast<uint32_t>(Reason::COUNT); ++i)
        if (const uint64_t n = countOf(Reason{i}))
            out += "  " + std::to_string(n) + " left to ggml: " + vkgemm::ggml::textOf(Reason{i}) + "\n";
    const std::lock_guard lock(state_->mutex);
    for (const auto& [line, n] : state_->notes) out += "  " + std::to_string(n) + " x " + line + "\n";
    if (state_->unnoted) out += "  " + std::to_string(state_->unnoted) + " x others\n";
    return out;
}

}  // namespace vkgemm::ggml
