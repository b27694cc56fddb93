// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/adapter.h"

#include <atomic>
#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vkgemm/elements.hpp>
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
constexpr size_t most_notes = 4096;

// A product of one matrix serves every number of rows up to the next power of two, so that prompts of any length share
// a few plans. One row has a plan of its own, because its kernel is another one. With a batch the strides change with
// the rows, and a plan has fixed ones.
void bound_rows(Products& x) {
    VkgemmProblem& p = x.problem;
    if (p.grouping != VKGEMM_GROUPING_NONE || p.batch > 1 || p.m == 1) return;
    if (p.a.layout != VKGEMM_LAYOUT_ROW_MAJOR || p.d.layout != VKGEMM_LAYOUT_ROW_MAJOR) return;
    p.m = std::bit_ceil(p.m);
    p.upTo = VKGEMM_UP_TO_M;
}

// Groups of a table, which a shader writes first. A batch that selects its matrices by ggml's ids has none.
bool has_table(const VkgemmProblem& p) { return p.grouping == VKGEMM_GROUPING_INDEXED; }

// Where the parts of the scratch memory are: the workspace first, and then what a product with groups needs.
struct Places {
    uint64_t table, lists, end;
};
Places places_of(const Work& work) {
    const VkgemmProblem& p = work.products.problem;
    const uint64_t table = roundUp(work.plan->workspace_bytes, part);
    const uint64_t lists = roundUp(table + p.batch * sizeof(VkgemmGroup), part);
    return {table, lists, lists + p.m * sizeof(uint32_t)};
}

std::string name_of(VkgemmType type) { return type ? std::string(typeName(type)) : "other"; }

// MUL_MAT q4_k*f32 4096x512x14336 batch 1x1: M, N and K as ggml counts them.
std::string text_of(const MulMat& x) {
    const auto number = [](uint64_t n) { return std::to_string(n); };
    std::string s = x.ids ? "MUL_MAT_ID " : "MUL_MAT ";
    s += name_of(x.src0.type) + "*" + name_of(x.src1.type) + " " + number(x.src0.ne[1]) + "x" +
         number(x.src1.ne[x.ids ? 2 : 1]) + "x" + number(x.src0.ne[0]);
    if (x.ids) return s + ", " + number(x.ids->ne[0]) + " of " + number(x.src0.ne[2]) + " experts";
    if (x.dst.ne[2] * x.dst.ne[3] > 1) s += ", batch " + number(x.dst.ne[2]) + "x" + number(x.dst.ne[3]);
    return s;
}

// Calls each(bytes of A, of B, of D) for every product that is recorded.
template <class Each>
bool for_each_part(const Products& x, Each&& each) {
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
    // A class of products while it is timed, and after.
    struct Timed {
        std::string text{};
        Trial trial{};
        std::vector<std::pair<int32_t, bool>> running{};  // timers that were not read yet, and whose turn they time
    };

    State(VkgemmContext made, const VkgemmContextInfo& info, const Options& chosen)
        : context(made),
          options(chosen),
          takes_all(chosen.takes_all),
          keeps_notes(chosen.keeps_notes),
          experts(info, has_addresses(info.enabledFeatures)),
          rounding(info, has_addresses(info.enabledFeatures)),
          stopwatch(info),
          file(chosen.times, device_of(info, chosen.rounds)) {
        const auto may_round = [&](VkgemmType type) {
            if (chosen.rounds == Rounds::NEVER || !rounding.works()) return false;
            return chosen.rounds == Rounds::ALWAYS || has_native(context, type, chosen.workspace_limit);
        };
        rounds_f16 = may_round(VKGEMM_TYPE_F16);
        rounds_bf16 = may_round(VKGEMM_TYPE_BF16);
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
    std::atomic<bool> takes_all, keeps_notes;
    Experts experts;
    Rounding rounding;
    bool rounds_f16 = false, rounds_bf16 = false;
    std::mutex mutex;  // of plans and notes
    std::unordered_map<PlanKey, std::unique_ptr<CachedPlan>, PlanKeyHash> plans;
    std::array<std::atomic<uint64_t>, static_cast<size_t>(Reason::COUNT)> totals{};
    std::map<std::string, uint64_t> notes;
    uint64_t unnoted = 0;       // of classes beyond most_notes
    mutable std::mutex timing;  // of what follows
    Stopwatch stopwatch;
    TimesFile file;
    bool is_file_written = true;
    std::unordered_map<ClassKey, Timed, ClassKeyHash> classes;
    // Hashes that leave() was given, each where its last bits tell; 0: none. Read without a lock.
    std::array<std::atomic<uint64_t>, 4096> left{};
    std::atomic<uint64_t>& left_at(uint64_t hash) { return left[hash % left.size()]; }

    Timed* timed_of(const ClassKey& key);
    void read_timers(Timed& x);
};

Adapter::Adapter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Adapter::~Adapter() = default;

std::unique_ptr<Adapter> Adapter::create(const VkgemmContextInfo& info, const Options& options, VkgemmError* error) {
    VkgemmContext context = nullptr;
    if (vkgemmCreateContext(&info, &context, error) < 0) return nullptr;
    return std::unique_ptr<Adapter>(new Adapter(std::make_unique<State>(context, info, options)));
}

namespace {

VkgemmOperand operand_of(const Tensor& x) { return {.buffer = x.buffer, .offset = x.offset, .size = 0, .address = 0}; }

// A part of other memory, `offset` bytes from its beginning.
VkgemmOperand operand_at(const VkgemmOperand& memory, uint64_t offset, uint64_t bytes) {
    return {.buffer = memory.buffer, .offset = memory.offset + offset, .size = bytes, .address = 0};
}

// Groups and lists of a product's experts, in the places that `run` gives them.
void record_experts(const Experts& experts, VkCommandBuffer commands, const Work& work, const VkgemmRun& run) {
    const uint64_t base = experts.address_of(run.groups.buffer);
    const Experts::Arguments arguments{.ids = experts.address_of(work.ids.buffer) + work.ids.offset,
                                       .table = base + run.groups.offset,
                                       .lists = base + run.indices.offset,
                                       .apart = work.products.problem.b.batchStride,
                                       .experts = static_cast<uint32_t>(work.experts),
                                       .slots = static_cast<uint32_t>(work.ids.ne[0]),
                                       .tokens = static_cast<uint32_t>(work.ids.ne[1]),
                                       .slot_words = static_cast<uint32_t>(work.ids.nb[0] / 4),
                                       .token_words = static_cast<uint32_t>(work.ids.nb[1] / 4)};
    experts.record(commands, arguments);
}

// From the first byte of a matrix of weights to behind the last one's.
uint64_t bytes_of(const Tensor& x) {
    const BlockSize block = blockSize(x.type);
    uint64_t last = (x.ne[0] / block.elements - 1) * x.nb[0] + block.bytes;
    for (size_t i = 1; i < x.ne.size(); ++i) last += (x.ne[i] - 1) * x.nb[i];
    return last;
}

}  // namespace

// Null: there are too many.
Adapter::State::Timed* Adapter::State::timed_of(const ClassKey& key) {
    if (const auto at = classes.find(key); at != classes.end()) return &at->second;
    if (classes.size() >= options.most_plans) return nullptr;
    Timed& x = classes[key];
    x.text = vkgemm::ggml::text_of(key);
    if (const auto* known = file.find(x.text)) x.trial.set((*known)[0], (*known)[1]);
    return &x;
}

void Adapter::State::read_timers(Timed& x) {
    const bool was_running = x.trial.state() == Trial::State::RUNNING;
    std::erase_if(x.running, [&](const std::pair<int32_t, bool>& one) {
        const auto time = stopwatch.read(one.first);
        if (time) x.trial.add(one.second, *time);
        return time.has_value();
    });
    if (was_running && x.trial.state() != Trial::State::RUNNING)
        is_file_written = file.add(x.text, x.trial.medians()) && is_file_written;
}

Turn Adapter::turn_of(const MulMat& product) {
    State& s = *state_;
    if (s.takes_all) return {};
    if (!s.stopwatch.works()) return {Reason::UNTIMED};
    const ClassKey key = class_of(product);
    const std::lock_guard lock(s.timing);
    auto* const x = s.timed_of(key);
    if (!x) return {Reason::CACHE};
    if (!x->running.empty()) s.read_timers(*x);
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
    const bool is_ours = Trial::is_ours(x->trial.given++);
    x->running.emplace_back(timer, is_ours);
    return {is_ours ? Reason::SERVED : Reason::TRIAL, timer};
}

bool Adapter::is_left(uint64_t hash) {
    State& s = *state_;
    constexpr auto relaxed = std::memory_order_relaxed;
    if (s.takes_all.load(relaxed) || s.keeps_notes.load(relaxed)) return false;
    if (!hash || s.left_at(hash).load(relaxed) != hash) return false;
    s.totals[static_cast<size_t>(Reason::SLOWER)].fetch_add(1, relaxed);
    return true;
}

void Adapter::leave(uint64_t hash) { state_->left_at(hash).store(hash, std::memory_order_relaxed); }

void Adapter::take_all(bool takes_all) { state_->takes_all = takes_all; }
void Adapter::keep_notes(bool keeps_notes) { state_->keeps_notes = keeps_notes; }

void Adapter::stamp(VkCommandBuffer commands, const Turn& turn, bool is_end) {
    state_->stopwatch.stamp(commands, turn.timer, is_end);
}

void Adapter::drop(const MulMat& product) {
    const std::lock_guard lock(state_->timing);
    if (auto* const x = state_->timed_of(class_of(product))) x->trial.drop();
}

Reason Adapter::prepare(const MulMat& product, Work& work) {
    work = {};
    const Reason fits = product.ids ? describe_experts(product, work.products) : describe(product, work.products);
    if (fits != Reason::SERVED) return fits;
    if (product.ids && (!state_->experts.works() || product.src0.ne[2] > Experts::most_experts)) return Reason::EXPERTS;
    VkgemmAccuracy& accuracy = work.products.problem.accuracy;
    if (accuracy == VKGEMM_ACCURACY_MXINT8 && state_->options.rounds == Rounds::NEVER)
        accuracy = VKGEMM_ACCURACY_DEFAULT;
    const VkgemmType rounded = rounded_type(product);
    if ((rounded == VKGEMM_TYPE_F16 && state_->rounds_f16) || (rounded == VKGEMM_TYPE_BF16 && state_->rounds_bf16))
        round_rows(product, rounded, work.products);
    bound_rows(work.products);
    CachedPlan* plan = nullptr;
    {
        const std::lock_guard lock(state_->mutex);
        auto& plans = state_->plans;
        const PlanKey key = key_of(work.products);
        auto at = plans.find(key);
        if (at == plans.end()) {
            if (plans.size() >= state_->options.most_plans) return Reason::CACHE;
            at = plans.emplace(key, std::make_unique<CachedPlan>()).first;
        }
        plan = at->second.get();
    }
    // Compiled without the lock, so that threads compile several at a time.
    std::call_once(plan->made,
                   [&] { make_plan(state_->context, state_->options.workspace_limit, work.products, *plan); });
    work.plan = plan;
    if (work.plan->reason != Reason::SERVED) return work.plan->reason;

    const VkgemmProblem& p = work.products.problem;
    VkgemmRun& run = work.run;
    run.structSize = sizeof run;
    run.a = operand_of(product.src1);
    run.b = operand_of(product.src0);
    run.d = operand_of(product.dst);
    if (work.products.residual >= 0) run.residual = operand_of(product.fused[size_t(work.products.residual)]);
    if (work.products.bias >= 0) run.bias = operand_of(product.fused[size_t(work.products.bias)]);
    if (p.upTo && p.grouping == VKGEMM_GROUPING_NONE) {
        run.flags = VKGEMM_RECORD_SIZES;
        run.m = work.products.rows;
        run.n = p.n;
        run.k = p.k;
        run.batch = p.batch;
    }
    work.scratch_bytes = work.plan->workspace_bytes;
    if (product.ids) {
        work.ids = *product.ids;
        work.experts = product.src0.ne[2];
        run.b.size = bytes_of(product.src0);
        if (has_table(p))
            work.scratch_bytes = places_of(work).end;
        else
            run.indices = operand_of(*product.ids);
    }
    if (work.products.rounded_rows) work.rounded_bytes = p.m / std::max(p.indicesPerRow, 1u) * p.k * 2;
    return Reason::SERVED;
}

Reason Adapter::record(VkCommandBuffer commands, const Work& work, const VkgemmOperand& scratch,
                       const VkgemmOperand& rounded) {
    const VkgemmProblem& p = work.products.problem;
    const bool is_grouped = has_table(p);
    const auto is_enough = [](const VkgemmOperand& x, uint64_t bytes) {
        return !bytes || (x.buffer && x.offset % part == 0 && x.size >= bytes);
    };
    if (!is_enough(scratch, work.scratch_bytes) || !is_enough(rounded, work.rounded_bytes)) return Reason::SCRATCH;
    VkgemmRun run = work.run;
    if (work.plan->workspace_bytes) run.workspace = operand_at(scratch, 0, work.plan->workspace_bytes);
    if (is_grouped) {
        const Places places = places_of(work);
        run.groups = operand_at(scratch, places.table, p.batch * sizeof(VkgemmGroup));
        run.indices = operand_at(scratch, places.lists, p.m * sizeof(uint32_t));
    }
    if (work.products.rounded_rows) run.a = operand_at(rounded, 0, work.rounded_bytes);
    const auto each_run = [&](auto&& call) {
        return for_each_part(work.products, [&](uint64_t a, uint64_t b, uint64_t d) {
            VkgemmRun one = run;
            one.a.offset += a;
            one.b.offset += b;
            one.d.offset += d;
            if (one.residual.buffer) one.residual.offset += d;
            return call(one);
        });
    };
    const auto is_fine = [&](const VkgemmRun& one) { return vkgemmCheckRun(work.plan->handle, &one, nullptr) >= 0; };
    if (!each_run(is_fine)) return Reason::RUN;

    if (is_grouped) record_experts(state_->experts, commands, work, run);
    const bool rounds = work.products.rounded_rows && !work.is_rounded;
    if (rounds) {
        const Rounding& rounding = state_->rounding;
        const VkgemmOperand& from = work.run.a;
        const Rounding::Arguments arguments{.from = rounding.address_of(from.buffer) + from.offset,
                                            .to = rounding.address_of(rounded.buffer) + run.a.offset,
                                            .fours = static_cast<uint32_t>(p.k / 4),
                                            .apart = static_cast<uint32_t>(work.products.rounded_apart / 4),
                                            .is_bf16 = p.a.type == VKGEMM_TYPE_BF16};
        rounding.record(commands, arguments, static_cast<uint32_t>(work.products.rounded_rows));
    }
    if (is_grouped || rounds) state_->rounding.record_barrier(commands);
    bool is_first = true;
    each_run([&](VkgemmRun& one) {
        if (!is_first && run.workspace.buffer) one.flags |= VKGEMM_RECORD_BARRIER_BEFORE;  // they share the workspace
        is_first = false;
        return vkgemmRecord(work.plan->handle, commands, &one, nullptr) >= 0;
    });
    return Reason::SERVED;
}

void Adapter::note(const MulMat& product, const Work& work, Reason reason) {
    ++state_->totals[static_cast<size_t>(reason)];
    if (!state_->keeps_notes) return;
    std::string line = text_of(product) + ": " + vkgemm::ggml::text_of(reason);
    if (work.plan && !work.plan->detail.empty()) line += " (" + work.plan->detail + ")";
    if (reason == Reason::SERVED && work.products.parts > 1)
        line += ", in " + std::to_string(work.products.parts) + " parts";
    const std::lock_guard lock(state_->mutex);
    if (const auto at = state_->notes.find(line); at != state_->notes.end())
        ++at->second;
    else if (state_->notes.size() < most_notes)
        state_->notes.emplace(line, 1);
    else
        ++state_->unnoted;
}

uint64_t Adapter::count_of(Reason reason) const { return state_->totals[static_cast<size_t>(reason)]; }
size_t Adapter::plan_count() const {
    const std::lock_guard lock(state_->mutex);
    return state_->plans.size();
}

std::string Adapter::report() const {
    uint64_t all = 0;
    for (const auto& total : state_->totals) all += total;
    std::string out = std::to_string(count_of(Reason::SERVED)) + " of " + std::to_string(all) + " products, with " +
                      std::to_string(plan_count()) + " plans\n";
    for (uint32_t i = 1; i < static_cast<uint32_t>(Reason::COUNT); ++i)
        if (const uint64_t n = count_of(Reason{i}))
            out += "  " + std::to_string(n) + " left to ggml: " + vkgemm::ggml::text_of(Reason{i}) + "\n";
    const std::lock_guard lock(state_->mutex);
    for (const auto& [line, n] : state_->notes) out += "  " + std::to_string(n) + " x " + line + "\n";
    if (state_->unnoted) out += "  " + std::to_string(state_->unnoted) + " x others\n";
    const std::lock_guard timing(state_->timing);
    std::map<std::string, std::array<double, 2>> times;
    for (const auto& [key, x] : state_->classes) times[x.text] = x.trial.medians();
    for (const auto& [text, medians] : times) {
        if (medians[0] == 0 || medians[1] == 0 || !state_->options.keeps_notes) continue;
        char line[64];
        std::snprintf(line, sizeof line, "%8.1f us by ggml, %8.1f by vkgemm: ", medians[0], medians[1]);
        out += line + text + "\n";
    }
    if (!state_->is_file_written) out += "  times were not kept: " + state_->options.times + " cannot be written\n";
    return out;
}

}  // namespace vkgemm::ggml
