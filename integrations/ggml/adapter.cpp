// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/adapter.h"

#include <atomic>
#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vkgemm/rounding.hpp>
#include <vkgemm/text.hpp>

#include "vkgemm_ggml/device.h"
#include "vkgemm_ggml/passes.h"
#include "vkgemm_ggml/plans.h"
#include "vkgemm_ggml/stopwatch.h"
#include "vkgemm_ggml/trials.h"

namespace vkgemm::ggml {

namespace {

constexpr uint64_t part = 256;  // of the scratch memory: a multiple of every alignment of a workspace
constexpr size_t mostNotes = 4096;

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

// Groups of a table, which a shader writes first. A batch that selects its matrices by ggml's ids has none.
bool hasTable(const VkgemmProblem& p) { return p.grouping == VKGEMM_GROUPING_INDEXED; }

// Where the parts of the scratch memory are: the workspace first, and then what a product with groups needs.
struct Places {
    uint64_t table, lists, end;
};
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

// A class of products while it is timed, and after.
struct Timed {
    std::string text{};
    Trial trial{};
    std::vector<std::pair<int32_t, bool>> running{};  // timers that were not read yet, and whose turn they time
};

}  // namespace

struct Adapter::State {
    State(VkgemmContext made, const VkgemmContextInfo& info, const Options& chosen)
        : context(made),
          options(chosen),
          takesAll(chosen.takesAll),
          keepsNotes(chosen.keepsNotes),
          experts(info, hasAddresses(info.enabledFeatures)),
          rounding(info, hasAddresses(info.enabledFeatures)),
          stopwatch(info),
          file(chosen.times, deviceOf(info, chosen.rounds)) {
        const auto mayRound = [&](VkgemmType type) {
            if (chosen.rounds == Rounds::NEVER || !rounding.works()) return false;
            return chosen.rounds == Rounds::ALWAYS || hasNative(context, type, chosen.workspaceLimit);
        };
        roundsF16 = mayRound(VKGEMM_TYPE_F16);
        roundsBf16 = mayRound(VKGEMM_TYPE_BF16);
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
    std::atomic<bool> takesAll, keepsNotes;
    Experts experts;
    Rounding rounding;
    bool roundsF16 = false, roundsBf16 = false;
    std::mutex mutex;  // of plans and notes
    std::unordered_map<PlanKey, std::unique_ptr<CachedPlan>, PlanKeyHash> plans;
    std::array<std::atomic<uint64_t>, static_cast<size_t>(Reason::COUNT)> totals{};
    std::map<std::string, uint64_t> notes;
    uint64_t unnoted = 0;       // of classes beyond mostNotes
    mutable std::mutex timing;  // of what follows
    Stopwatch stopwatch;
    TimesFile file;
    bool isFileWritten = true;
    std::unordered_map<ClassKey, Timed, ClassKeyHash> classes;
    // Hashes that leave() was given, each where its last bits tell; 0: none. Read without a lock.
    std::array<std::atomic<uint64_t>, 4096> left{};
    std::atomic<uint64_t>& leftAt(uint64_t hash) { return left[hash % left.size()]; }

    Timed* timedOf(const ClassKey& key);
    void readTimers(Timed& x);
};

Adapter::Adapter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Adapter::~Adapter() = default;

std::unique_ptr<Adapter> Adapter::create(const VkgemmContextInfo& info, const Options& options, VkgemmError* error) {
    VkgemmContext context = nullptr;
    if (vkgemmCreateContext(&info, &context, error) < 0) return nullptr;
    return std::unique_ptr<Adapter>(new Adapter(std::make_unique<State>(context, info, options)));
}

namespace {

VkgemmOperand operandOf(const Tensor& x) { return {.buffer = x.buffer, .offset = x.offset, .size = 0, .address = 0}; }

// A part of other memory, `offset` bytes from its beginning.
VkgemmOperand operandAt(const VkgemmOperand& memory, uint64_t offset, uint64_t bytes) {
    return {.buffer = memory.buffer, .offset = memory.offset + offset, .size = bytes, .address = 0};
}

// Groups and lists of a product's experts, in the places that `run` gives them.
void recordExperts(const Experts& experts, VkCommandBuffer commands, const Work& work, const VkgemmRun& run) {
    const uint64_t base = experts.addressOf(run.groups.buffer);
    const Experts::Arguments arguments{.ids = experts.addressOf(work.ids.buffer) + work.ids.offset,
                                       .table = base + run.groups.offset,
                                       .lists = base + run.indices.offset,
                                       .apart = work.products.problem.b.batchStride,
                                       .experts = static_cast<uint32_t>(work.experts),
                                       .slots = static_cast<uint32_t>(work.ids.ne[0]),
                                       .tokens = static_cast<uint32_t>(work.ids.ne[1]),
                                       .slotWords = static_cast<uint32_t>(work.ids.nb[0] / 4),
                                       .tokenWords = static_cast<uint32_t>(work.ids.nb[1] / 4)};
    experts.record(commands, arguments);
}

// From the first byte of a matrix of weights to behind the last one's.
uint64_t bytesOf(const Tensor& x) {
    const BlockSize block = blockSize(x.type);
    uint64_t last = (x.ne[0] / block.elements - 1) * x.nb[0] + block.bytes;
    for (size_t i = 1; i < x.ne.size(); ++i) last += (x.ne[i] - 1) * x.nb[i];
    return last;
}

}  // namespace

// Null: there are too many.
Timed* Adapter::State::timedOf(const ClassKey& key) {
    if (const auto at = classes.find(key); at != classes.end()) return &at->second;
    if (classes.size() >= options.mostPlans) return nullptr;
    Timed& x = classes[key];
    x.text = vkgemm::ggml::textOf(key);
    if (const auto* known = file.find(x.text)) x.trial.set((*known)[0], (*known)[1]);
    return &x;
}

void Adapter::State::readTimers(Timed& x) {
    const bool wasRunning = x.trial.state() == Trial::State::RUNNING;
    std::erase_if(x.running, [&](const std::pair<int32_t, bool>& one) {
        const auto time = stopwatch.read(one.first);
        if (time) x.trial.add(one.second, *time);
        return time.has_value();
    });
    if (wasRunning && x.trial.state() != Trial::State::RUNNING)
        isFileWritten = file.add(x.text, x.trial.medians()) && isFileWritten;
}

Turn Adapter::turnOf(const MulMat& product) {
    State& s = *state_;
    if (s.takesAll) return {};
    if (!s.stopwatch.works()) return {Reason::UNTIMED};
    const ClassKey key = classOf(product);
    const std::lock_guard lock(s.timing);
    Timed* const x = s.timedOf(key);
    if (!x) return {Reason::CACHE};
    if (!x->running.empty()) s.readTimers(*x);
    switch (x->trial.state()) {
        case Trial::State::VKGEMM:
            return {};
        case Trial::State::GGML:
            return {Reason::SLOWER};
        case Trial::State::RUNNING:
            break;
    }
    if (x->trial.given == Trial::turns) return {Reason::TRIAL};
    const int32_t timer = s.stopwatch.take();
    if (timer < 0) return {Reason::TRIAL};
    const bool isOurs = Trial::isOurs(x->trial.given++);
    x->running.emplace_back(timer, isOurs);
    return {isOurs ? Reason::SERVED : Reason::TRIAL, timer};
}

bool Adapter::isLeft(uint64_t hash) {
    State& s = *state_;
    constexpr auto relaxed = std::memory_order_relaxed;
    if (s.takesAll.load(relaxed) || s.keepsNotes.load(relaxed)) return false;
    if (!hash || s.leftAt(hash).load(relaxed) != hash) return false;
    s.totals[static_cast<size_t>(Reason::SLOWER)].fetch_add(1, relaxed);
    return true;
}

void Adapter::leave(uint64_t hash) { state_->leftAt(hash).store(hash, std::memory_order_relaxed); }

void Adapter::takeAll(bool takesAll) { state_->takesAll = takesAll; }
void Adapter::keepNotes(bool keepsNotes) { state_->keepsNotes = keepsNotes; }

void Adapter::stamp(VkCommandBuffer commands, const Turn& turn, bool isEnd) {
    state_->stopwatch.stamp(commands, turn.timer, isEnd);
}

void Adapter::drop(const MulMat& product) {
    const std::lock_guard lock(state_->timing);
    if (Timed* const x = state_->timedOf(classOf(product))) x->trial.drop();
}

Reason Adapter::prepare(const MulMat& product, Work& work) {
    work = {};
    const Reason fits = product.ids ? describeExperts(product, work.products) : describe(product, work.products);
    if (fits != Reason::SERVED) return fits;
    if (product.ids && (!state_->experts.works() || product.src0.ne[2] > Experts::mostExperts)) return Reason::EXPERTS;
    VkgemmAccuracy& accuracy = work.products.problem.accuracy;
    if (accuracy == VKGEMM_ACCURACY_MXINT8 && state_->options.rounds == Rounds::NEVER)
        accuracy = VKGEMM_ACCURACY_DEFAULT;
    const VkgemmType rounded = roundedType(product);
    if ((rounded == VKGEMM_TYPE_F16 && state_->roundsF16) || (rounded == VKGEMM_TYPE_BF16 && state_->roundsBf16))
        roundRows(product, rounded, work.products);
    boundRows(work.products);
    CachedPlan* plan = nullptr;
    {
        const std::lock_guard lock(state_->mutex);
        auto& plans = state_->plans;
        const PlanKey key = keyOf(work.products);
        auto at = plans.find(key);
        if (at == plans.end()) {
            if (plans.size() >= state_->options.mostPlans) return Reason::CACHE;
            at = plans.emplace(key, std::make_unique<CachedPlan>()).first;
        }
        plan = at->second.get();
    }
    // Compiled without the lock, so that threads compile several at a time.
    std::call_once(plan->made,
                   [&] { makePlan(state_->context, state_->options.workspaceLimit, work.products, *plan); });
    work.plan = plan;
    if (work.plan->reason != Reason::SERVED) return work.plan->reason;

    const VkgemmProblem& p = work.products.problem;
    VkgemmRun& run = work.run;
    run.structSize = sizeof run;
    run.a = operandOf(product.src1);
    run.b = operandOf(product.src0);
    run.d = operandOf(product.dst);
    if (work.products.residual >= 0) run.residual = operandOf(product.fused[size_t(work.products.residual)]);
    if (work.products.bias >= 0) run.bias = operandOf(product.fused[size_t(work.products.bias)]);
    if (p.upTo && p.grouping == VKGEMM_GROUPING_NONE) {
        run.flags = VKGEMM_RECORD_SIZES;
        run.m = work.products.rows;
        run.n = p.n;
        run.k = p.k;
        run.batch = p.batch;
    }
    work.scratchBytes = work.plan->workspaceBytes;
    if (product.ids) {
        work.ids = *product.ids;
        work.experts = product.src0.ne[2];
        run.b.size = bytesOf(product.src0);
        if (hasTable(p))
            work.scratchBytes = placesOf(work).end;
        else
            run.indices = operandOf(*product.ids);
    }
    if (work.products.roundedRows) work.roundedBytes = p.m / std::max(p.indicesPerRow, 1u) * p.k * 2;
    return Reason::SERVED;
}

Reason Adapter::record(VkCommandBuffer commands, const Work& work, const VkgemmOperand& scratch,
                       const VkgemmOperand& rounded) {
    const VkgemmProblem& p = work.products.problem;
    const bool isGrouped = hasTable(p);
    const auto isEnough = [](const VkgemmOperand& x, uint64_t bytes) {
        return !bytes || (x.buffer && x.offset % part == 0 && x.size >= bytes);
    };
    if (!isEnough(scratch, work.scratchBytes) || !isEnough(rounded, work.roundedBytes)) return Reason::SCRATCH;
    VkgemmRun run = work.run;
    if (work.plan->workspaceBytes) run.workspace = operandAt(scratch, 0, work.plan->workspaceBytes);
    if (isGrouped) {
        const Places places = placesOf(work);
        run.groups = operandAt(scratch, places.table, p.batch * sizeof(VkgemmGroup));
        run.indices = operandAt(scratch, places.lists, p.m * sizeof(uint32_t));
    }
    if (work.products.roundedRows) run.a = operandAt(rounded, 0, work.roundedBytes);
    const auto eachRun = [&](auto&& call) {
        return forEachPart(work.products, [&](uint64_t a, uint64_t b, uint64_t d) {
            VkgemmRun one = run;
            one.a.offset += a;
            one.b.offset += b;
            one.d.offset += d;
            if (one.residual.buffer) one.residual.offset += d;
            return call(one);
        });
    };
    const auto isFine = [&](const VkgemmRun& one) { return vkgemmCheckRun(work.plan->handle, &one, nullptr) >= 0; };
    if (!eachRun(isFine)) return Reason::RUN;

    if (isGrouped) recordExperts(state_->experts, commands, work, run);
    const bool rounds = work.products.roundedRows && !work.isRounded;
    if (rounds) {
        const Rounding& rounding = state_->rounding;
        const VkgemmOperand& from = work.run.a;
        const Rounding::Arguments arguments{.from = rounding.addressOf(from.buffer) + from.offset,
                                            .to = rounding.addressOf(rounded.buffer) + run.a.offset,
                                            .fours = static_cast<uint32_t>(p.k / 4),
                                            .apart = static_cast<uint32_t>(work.products.roundedApart / 4),
                                            .isBf16 = p.a.type == VKGEMM_TYPE_BF16};
        rounding.record(commands, arguments, static_cast<uint32_t>(work.products.roundedRows));
    }
    if (isGrouped || rounds) state_->rounding.recordBarrier(commands);
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
    if (!state_->keepsNotes) return;
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
    const std::lock_guard timing(state_->timing);
    std::map<std::string, std::array<double, 2>> times;
    for (const auto& [key, x] : state_->classes) times[x.text] = x.trial.medians();
    for (const auto& [text, medians] : times) {
        if (!medians[0] || !medians[1] || !state_->options.keepsNotes) continue;
        char line[64];
        std::snprintf(line, sizeof line, "%8.1f us by ggml, %8.1f by vkgemm: ", medians[0], medians[1]);
        out += line + text + "\n";
    }
    if (!state_->isFileWritten) out += "  times were not kept: " + state_->options.times + " cannot be written\n";
    return out;
}

}  // namespace vkgemm::ggml
