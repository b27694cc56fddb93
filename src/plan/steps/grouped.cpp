// SPDX-License-Identifier: MIT
#include "plan/steps/grouped.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/steps/make_steps.h"

namespace vkgemm::plan {
namespace {

// Half of the groups have more than an even share if rows choose theirs by chance, and then a tile of that many rows
// reads B once more for few of them. So this is the share and its standard deviation.
uint64_t likely_rows(uint64_t rows, uint64_t groups) {
    const double share = double(rows) / double(groups);
    return std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(share + (groups > 1 ? std::sqrt(share) : 0))));
}

}  // namespace

GroupedSearch::GroupedSearch(const PreparedProblem& whole, Request asked) : problem(whole), request(std::move(asked)) {
    Problem& least = problem.least.emplace(whole.normalised.problem);
    for (const auto& [bit, size] :
         {std::pair{VKGEMM_UP_TO_M, &least.m}, {VKGEMM_UP_TO_N, &least.n}, {VKGEMM_UP_TO_K, &least.k}})
        if (least.upTo & bit) *size = std::min<uint64_t>(*size, 1);
    least.batch = 1;
    Problem& expected = problem.normalised.problem;
    if (expected.grouping == VKGEMM_GROUPING_INDEXED) expected.m = likely_rows(expected.m, expected.batch);
    request.addresses = true;     // which the list has
    request.workspace_limit = 0;  // K is not split, and nothing is packed
    request.tuned = nullptr;      // rows are of single products
}

namespace {

// The pass that lists the tiles. `product` is the one that it is for.
Step listing_step(const Kernel& lister, const Step& product, const Problem& p, bool swapped, bool counts_indices) {
    Step s = unsized_step(lister, lister.tile, product.constants);
    s.groups_x = s.groups_y = 1;
    s.tile.BM = product.tile.BM;
    s.tile.BN = product.tile.BN;
    ProblemConstants& c = s.constants;
    clear_epilogue(c);
    c.FORMAT_A = uint32_t(p.a.type);
    c.FORMAT_B = uint32_t(p.b.type);
    c.FORMAT_D = uint32_t(p.d.type);
    constexpr std::pair<uint32_t, uint32_t> own[] = {
        {VKGEMM_UP_TO_M, TABLE_HAS_M}, {VKGEMM_UP_TO_N, TABLE_HAS_N}, {VKGEMM_UP_TO_K, TABLE_HAS_K}};
    for (const auto& [bit, has] : own)
        if (p.upTo & bit) c.TABLE_HAS |= has;
    if (swapped) c.TABLE_HAS |= TABLE_SWAPPED;
    if (p.cSource == VKGEMM_C_IS_D) c.TABLE_HAS |= TABLE_C_IS_D;
    if (product.kernel->module.is_mixed()) c.TABLE_HAS |= TABLE_MIXED;
    if (p.grouping == VKGEMM_GROUPING_ADDRESSES) c.TABLE_HAS |= TABLE_ADDRESSES;
    if (product.groups) c.TABLE_HAS |= TABLE_DIRECT;
    if (counts_indices && product.constants.BY_INDEX) c.TABLE_HAS |= TABLE_COUNTS;
    s.slots.fill(VKGEMM_SLOT_D);
    return s;
}

// Puts the pass that checks the indices of a batch before its product, which need not wait for it.
void add_count(Steps& steps, const Kernel& lister, const DeviceCaps& dev) {
    Step count = unsized_step(lister, lister.tile);
    count.groups_x = count.groups_y = 1;
    count.constants.BY_INDEX = 2;
    count.slots.fill(VKGEMM_SLOT_D);
    count.waits = false;
    steps.steps.insert(steps.steps.begin(), count);
    steps.parts[0].steps = steps.steps.size();
    steps.slots[VKGEMM_SLOT_WORKSPACE] = workspace_requirement(list_begin_bytes, dev);
}

bool is_addressed(const Problem& p) { return p.grouping == VKGEMM_GROUPING_ADDRESSES; }

// What a run brings. Matrices that the table has addresses of are no operands.
void set_slots(BySlot<Requirement>& slots, const Problem& completed, const DeviceCaps& dev,
               uint32_t operand_alignment) {
    slots = requirements_of(completed, operand_alignment);
    constexpr VkgemmSlot matrices[] = {VKGEMM_SLOT_A, VKGEMM_SLOT_B, VKGEMM_SLOT_C, VKGEMM_SLOT_D,
                                       VKGEMM_SLOT_RESIDUAL};
    if (is_addressed(completed)) {
        for (const VkgemmSlot slot : matrices) slots[slot] = {};
    } else {  // of one matrix where the slot may hold many, so that the largest group fits
        Problem one = completed;
        one.batch = 1;
        const auto of_one = requirements_of(one, operand_alignment);
        for (const VkgemmSlot slot : matrices) slots[slot].least = of_one[slot].bytes;
    }
    const uint64_t count = completed.batch;
    slots[VKGEMM_SLOT_GROUPS] = {.bytes = count * sizeof(VkgemmGroup), .alignment = 4, .reads = true};
    if (completed.grouping == VKGEMM_GROUPING_INDEXED)
        slots[VKGEMM_SLOT_INDICES] = {.bytes = 4 * completed.m, .alignment = 4, .reads = true, .least = 4};
    slots[VKGEMM_SLOT_WORKSPACE] =
        workspace_requirement(list_begin_bytes + 4 * (LIST_HEADER_WORDS + count * LISTED_WORDS), dev);
}

// Idle work groups cost less than the barrier before an indirect dispatch up to about so many.
constexpr uint64_t most_idle_groups = 4096;

// Work groups that a dispatch of all groups of a table cannot exceed, if no row of D is in two of them; 0 where no
// index list bounds their rows. Each group that has rows has one beside those of whole tiles.
uint64_t most_tiles_of_rows(const Problem& p, const Tile& t) {
    if (p.grouping != VKGEMM_GROUPING_INDEXED) return 0;
    const uint64_t groups = std::min(p.batch, p.m);
    return (groups + (p.m - groups) / t.BM) * div_up(p.n, t.BN);
}

void set_table(abi::TableArgs& table, const abi::GemmArgs& args) {
    table.m = args.m;
    table.n = args.n;
    table.k = args.k;
    table.count = args.batch;
    table.lda = args.lda;
    table.ldb = args.ldb;
    table.ldc = args.ldc;
    table.ldd = args.ldd;
}

}  // namespace

Result<Steps> make_grouped_steps(const Choice& choice, const Problem& completed, const Normalised& normalised,
                                 const DeviceKernels& device, const Request& request) {
    const DeviceCaps& dev = device.caps();
    const Problem& p = normalised.problem;
    const Tile& t = choice.tile;
    const double most_tiles = double(div_up(p.m, t.BM)) * double(div_up(p.n, t.BN)) * double(p.batch);
    if (most_tiles > std::min(double(dev.max_groups_x) * double(dev.max_groups_y), double(UINT32_MAX)))
        return Refusal{VKGEMM_ERROR_LIMIT,
                       concat({"the largest groups would take ", uint64_t(std::min(most_tiles, 1e18)),
                               " work groups; use a larger tile, fewer groups or smaller ones"})};
    Steps out;
    out.binding = Binding::addresses;
    out.error_bound = error_bound_of(completed, choice.kernel);
    set_slots(out.slots, completed, dev, request.operand_alignment);

    Schedule schedule = choice.schedule;
    schedule.problem = p;
    Step product = unsized_step(*choice.kernel, t, constants_of(schedule, *choice.kernel, t, request));
    product.args = args_of(p);
    product.slots = slots_of(p, normalised.swapped);
    product.groups_x = product.groups_y = 1;
    product.tile.RASTER = product.tile.SPLIT = product.tile.PACK = 0;
    product.args.raster = t.RASTER;
    product.is_grouped = true;
    product.constants.WHOLE = 0;
    product.constants.BY_INDEX = p.grouping == VKGEMM_GROUPING_INDEXED;
    product.constants.INDICES_PER_ROW = p.indicesPerRow;
    if (const uint64_t most = most_tiles_of_rows(p, t); most && most <= most_idle_groups) set_grid(product, most, dev);
    Step list = listing_step(*device.lister(), product, p, normalised.swapped, request.count_indices);
    abi::TableArgs table = {};
    set_table(table, product.args);
    table.max_groups_x = product.groups ? static_cast<uint32_t>(product.groups) : dev.max_groups_x;
    out.table = table;
    list.waits = false;
    out.steps = {list, product};
    Repeats& once = out.parts.emplace_back();
    once.steps = out.steps.size();
    once.cost = schedule.cost;
    return out;
}

Result<Steps> make_selected_steps(const Choice& choice, const Problem& p, const Normalised& normalised,
                                  const DeviceKernels& device, const Request& request) {
    const DeviceCaps& dev = device.caps();
    const uint64_t apart = info(p.b.type).bytes_of(p.b.batchStride);
    if (apart > UINT32_MAX)
        return Refusal{VKGEMM_ERROR_LIMIT,
                       concat({"matrices of B that indices choose are at most ", UINT32_MAX, " bytes apart, not ",
                               apart, "; VKGEMM_GROUPING_TABLE has no such limit"})};
    Steps out = make_steps(choice, p, normalised, dev, request);
    Step& product = out.steps[0];
    product.is_grouped = true;
    product.constants.BY_INDEX = 2;
    product.args.batch_b = 0;  // recording has the bytes, Selectable::apart
    Problem one = p;
    one.batch = 1;
    out.slots[VKGEMM_SLOT_B].least = requirements_of(one, request.operand_alignment)[VKGEMM_SLOT_B].bytes;
    out.slots[VKGEMM_SLOT_INDICES] = {.bytes = 4 * p.batch, .alignment = 4, .reads = true};
    if (request.count_indices) add_count(out, *device.lister(), dev);
    return out;
}

Selectable selectable(const Problem& completed, uint64_t bytes) {
    Problem one = completed;
    one.batch = 1;
    const Operand last = operands(one)[BIND_B];
    const TypeInfo& type = info(completed.b.type);
    const uint64_t span = type.bytes_of(*span_elements(last)), apart = type.bytes_of(completed.b.batchStride);
    const uint64_t fitting = bytes < span ? 0 : apart == 0 ? UINT32_MAX : (bytes - span) / apart + 1;
    const uint64_t matrices = completed.k == 0 ? completed.batch : fitting;  // without a k, they are empty
    return {static_cast<uint32_t>(std::min<uint64_t>(matrices, UINT32_MAX)), static_cast<uint32_t>(apart)};
}

void set_grouped_run(SizedSteps& out, const Steps& made, const RunProblem& run, const DeviceCaps& dev,
                     uint32_t operand_alignment) {
    out.problem = run.completed;
    if (is_empty(run.completed) || made.steps.empty()) return;
    out.count = made.steps.size();
    std::ranges::copy(made.steps, out.steps.begin());
    abi::GemmArgs& args = out.steps[1].args;
    const uint32_t raster = args.raster;
    args = args_of(run.normalised.problem);
    args.raster = raster;
    out.table = made.table;
    set_table(*out.table, args);
    set_slots(out.slots, run.completed, dev, operand_alignment);
    out.part = made.parts[0];
}

}  // namespace vkgemm::plan
