// SPDX-License-Identifier: MIT
#include "plan/choice/select.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/problem/factors.h"
#include "plan/problem/problem_text.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

constexpr uint64_t max_batch = UINT32_MAX - 1;
constexpr uint64_t max_dimension = (uint64_t{1} << 31) - 1;  // so that rounding up to a tile cannot wrap 32 bits

std::string types_of(const Module& m) {
    const std::string of_sums = typesText(m.a, m.b, m.accumulate, m.d);
    const std::string d = m.d != scaled ? "" : m.writes(i8) ? "f32|f16|bf16|i8" : "f32|f16|bf16";
    if (m.family.takes_fp8) return "fp8*fp8" + of_sums.substr(of_sums.find('+')) + d;
    return (m.is_mixed() ? "mixed*mixed" : "") + of_sums.substr(m.is_mixed()) + d;
}

// What a family that is less exact does, and every accuracy of a problem that allows it.
std::string less_exact(VkgemmAccuracy least) {
    if (least == VKGEMM_ACCURACY_MXINT8) return concat({"rounds A to 8 bits; needs accuracy=", accuracy_name(least)});
    if (least == VKGEMM_ACCURACY_NARROW)
        return concat({"rounds A and B for the matrix units; needs accuracy=", accuracy_name(least), " or ",
                       accuracy_name(VKGEMM_ACCURACY_MXINT8)});
    std::string out;
    for (int a = least; a <= VKGEMM_ACCURACY_F32_SPLIT_ROWS; ++a)
        out += concat({(out.empty() ? "" : " or "), "accuracy=", accuracy_name(VkgemmAccuracy(a))});
    return concat({"splits f32 for the matrix units; needs ", out});
}

// Bytes of an element of what is read or written like this operand: the residual is placed like D.
uint32_t widest(const Problem& p, const Operand& x) {
    const TypeInfo& type = info(x.matrix->type);
    return x.name == "D" ? std::max(type.bytes, info(p.residualType).bytes) : type.bytes;
}

uint64_t span_of(const Problem& p, const Operand& x) {
    // Each group has its own place, and so has a matrix of B that an index selects.
    const bool has_own_place = has_table(p) || (p.grouping == VKGEMM_GROUPING_SELECTED && x.name == "B");
    return span_elements(*x.matrix, x.rows, x.cols, has_own_place ? 1 : p.batch).value_or(UINT64_MAX);
}

bool beyond_descriptor(const Problem& p, const Operand& x, const DeviceCaps& dev, uint64_t span) {
    return span / info(x.matrix->type).block * widest(p, x) + dev.offset_alignment > dev.max_storage_range;
}

// Why a problem was not cut into parts that are smaller.
std::string_view why_whole(const Problem& p) {
    return is_never_cut(p) ? "; a problem with groups, sizes that vary or operands that come packed is not cut: "
           : !adds_up_in_d(p)
               ? "; K is cut only if D has the accumulator's type, no residual, and batchInvariant is 0: "
               : "; ";
}

double groups_of(const Tile& t, const Problem& p) {
    return double(div_up(p.m, t.BM)) * double(div_up(p.n, t.BN)) * double(p.batch);
}
double most_groups(const DeviceCaps& dev) {
    return std::min(double(dev.max_groups_x) * double(dev.max_groups_y), 4294967294.0);
}
bool groups_fit(const Tile& t, const DeviceCaps& dev, const Problem& p) { return groups_of(t, p) <= most_groups(dev); }

std::optional<Status> too_many_groups(const Tile& t, const DeviceCaps& dev, const Problem& p) {
    if (groups_fit(t, dev, p)) return std::nullopt;
    return Refusal{VKGEMM_ERROR_LIMIT,
                   concat({"it would take ", uint64_t(std::min(groups_of(t, p), 1e18)), " work groups; the limit is ",
                           uint64_t(most_groups(dev)), "; use a larger tile or split the batch"})};
}

// Why a kernel in machine code does not serve this request.
const char* why_refused(const Module& m, const Request& request, Binding binding) {
    if (!VKGEMM_HAS_NATIVE || !m.is_native()) return nullptr;
    if (request.native == Request::Native::excluded)
        return "is machine code, which VKGEMM_PLAN_NO_NATIVE leaves out of the choice";
    if (binding != Binding::addresses)
        return "takes operands by address alone; make the plan for VKGEMM_OPERANDS_ADDRESSES";
    if (request.dispatch_seconds > 0)
        return "is one launch, which is not cut into shorter ones; make the plan without dispatchSeconds";
    return nullptr;
}

const char* unfit_grouping(const Module& m, const Problem& p) {
    if (has_table(p)) return m.takes_groups() ? nullptr : "computes one product, not the groups of a table";
    if (p.grouping == VKGEMM_GROUPING_NONE || m.selects()) return nullptr;
    return "selects no matrices of B, as kernels of few rows do";
}

const char* why_refused(const Module& m, const Tile& t, const DeviceCaps& dev, const Problem& p) {
    const Family& family = m.family;
    const bool straight = is_straight(family, t);
    if (straight && m.a != f16) return "is for f16 where it loads matrices straight from memory";
    if (straight && (p.a.layout != rowMajor || p.b.layout != columnMajor))
        return "is for row-major A and column-major B, whose matrices it loads straight from memory along k";
    if (p.batchInvariant && (family.wants_wide || straight || family.wants_pitches))
        return "reads A and B 16 bytes at a time, which the strides of some batches forbid; not for batchInvariant";
    if (family.in_one_step && p.k > t.BK) return "keeps the whole of B's columns in registers; for K of at most BK";
    if (const char* why = family.refuses(p)) return why;
    const auto bytes = family.shared_bytes_of_format;
    if (bytes && bytes(t, m.element_bytes(), p.b.type) > dev.shared_bytes)
        return "takes more shared memory for this format of B than the device has";
    return nullptr;
}

}  // namespace

bool beyond_reach(const Problem& p, const Operand& x, const DeviceCaps& dev, Binding binding) {
    if (x.name == "C" && p.cSource != VKGEMM_C_SEPARATE) return false;
    const uint64_t span = span_of(p, x);
    return x.matrix->ld > dev.max_span || span > dev.max_span ||
           (binding == Binding::descriptors && beyond_descriptor(p, x, dev, span));
}

std::optional<Status> too_large(const DeviceCaps& dev, const Problem& p, Binding binding) {
    for (const auto& [name, value] : {std::pair{"m", p.m}, {"n", p.n}, {"k", p.k}})
        if (value > max_dimension)
            return Refusal{VKGEMM_ERROR_LIMIT, concat({name, " is ", value, ", above vkgemm's limit of ", max_dimension,
                                                       "; split the product"})};
    if (p.batch > max_batch)
        return Refusal{VKGEMM_ERROR_LIMIT,
                       concat({"batch is ", p.batch, ", above vkgemm's limit of ", max_batch, "; split the batch"})};
    for (const Operand& x : operands(p)) {
        if (!beyond_reach(p, x, dev, binding)) continue;
        if (x.matrix->ld > dev.max_span)
            return Refusal{VKGEMM_ERROR_LIMIT, concat({"the leading dimension of ", x.name, " is ", x.matrix->ld,
                                                       ", above the limit of ", dev.max_span, "; split the product"})};
        const uint64_t span = span_of(p, x);
        if (span > dev.max_span)
            return Refusal{VKGEMM_ERROR_LIMIT,
                           concat({x.name, " spans ", span, " elements, above the limit of ", dev.max_span,
                                   " that 32-bit indices reach", why_whole(p), "split the batch or the product"})};
        const bool residual = widest(p, x) > info(x.matrix->type).bytes;
        return Refusal{
            VKGEMM_ERROR_LIMIT,
            concat({(residual ? "the residual" : x.name), " spans ", span / info(x.matrix->type).block * widest(p, x),
                    " bytes, more than one descriptor reaches on the device (", dev.max_storage_range,
                    " less the offset alignment)", why_whole(p), "device addresses have no such limit"})};
    }
    return std::nullopt;
}

Result<Binding> choose_binding(const DeviceCaps& dev, const Request& request) {
    const bool addresses = dev.features & need::buffer_address;
    const bool descriptors = (dev.features & need::push_descriptor) && dev.max_storage_buffers >= BIND_COUNT;
    if (request.addresses && !addresses)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       std::string("operands as device addresses need the feature bufferDeviceAddress, which is ") +
                           dev.not_there()};
    const bool cpu = dev.kind == DeviceKind::cpu;  // whose drivers test every access through a descriptor
    if (!request.addresses && descriptors && !(cpu && addresses)) return Binding::descriptors;
    if (addresses) return Binding::addresses;
    return Refusal{
        VKGEMM_ERROR_UNSUPPORTED,
        concat({"operands need push descriptors (VK_KHR_push_descriptor or Vulkan 1.4, with ", BIND_COUNT,
                " storage buffers a stage; the device has ", dev.max_storage_buffers,
                ") or the feature bufferDeviceAddress; neither is ", (dev.is_physical ? "offered" : "enabled")})};
}

namespace {

// Whether the device may run a kernel in machine code that has the types of the problem.
bool may_be_native(const DeviceCaps& dev, const Problem& p, const Request& request) {
    if (!VKGEMM_HAS_NATIVE || request.native != Request::Native::allowed || !(dev.features & need::buffer_address) ||
        p.batchInvariant || why_not_native(dev))  // no native kernel is for batchInvariant
        return false;
    if (!request.kernel.empty()) {
        const Kernel* const forced = find_kernel(request.kernel);
        return forced && forced->module.is_native();
    }
    return std::ranges::any_of(kernels(), [&](const Kernel& k) {
        const Module& m = k.module;
        return m.is_native() && m.is_product() && m.built() && p.accuracy >= m.family.accuracy && m.has_types_of(p);
    });
}

}  // namespace

Result<Binding> choose_binding(const DeviceCaps& dev, const Problem& p, const Request& request) {
    if (!p.scalars && may_be_native(dev, p, request)) return Binding::addresses;
    if (!p.scalars) return choose_binding(dev, request);
    if ((p.scalars & VKGEMM_SCALARS_LARGEST) && lacks_device_scope(dev.features))
        return Refusal{
            VKGEMM_ERROR_UNSUPPORTED,
            std::string("the largest |D| is found by atomics, which beside the feature vulkanMemoryModel need "
                        "vulkanMemoryModelDeviceScope, which is ") +
                dev.not_there() + "; leave VKGEMM_SCALARS_LARGEST out, or enable it"};
    if (dev.features & need::buffer_address) return Binding::addresses;
    return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                   std::string("scalars in memory need the feature bufferDeviceAddress, which is ") + dev.not_there()};
}

std::optional<Status> unfit(const Kernel& k, const Tile& tile, const DeviceCaps& dev, const Problem& p,
                            Binding binding) {
    const Module& m = k.module;
    if (!m.has_types_of(p))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({"multiplies ", types_of(m), ", not ", types_text(p)})};
    if (p.accuracy < m.family.accuracy) return Refusal{VKGEMM_ERROR_UNSUPPORTED, less_exact(m.family.accuracy)};
    if (auto why = unfit_device(k, tile, dev)) return why;
    if (const char* why = unfit_grouping(m, p)) return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    if (auto why = too_large(dev, p, binding)) return why;
    if (auto why = too_many_groups(tile, dev, p)) return why;
    if (const char* why = why_refused(m, tile, dev, p)) return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    return std::nullopt;
}

namespace {

// Nothing serves: the one reason, when one kernel was asked for; else the reasons of the rows that have the types.
Refusal nothing_fits(const Problem& p, const Request& request, const std::vector<Candidate>& candidates) {
    std::string types, reasons;
    VkgemmResult kind = VKGEMM_ERROR_UNSUPPORTED;
    for (const Candidate& x : candidates) {
        if (request.kernel == x.kernel->name) return {x.why->code, concat({x.kernel->name, ": ", x.why->text})};
        if (!x.why) continue;  // would serve, but another kernel was asked for
        if (!x.kernel->module.is_product() || p.accuracy < x.kernel->module.family.accuracy) continue;
        const std::string words = types_of(x.kernel->module);
        if (!x.kernel->module.has_types_of(p)) {
            if (types.find(words) == std::string::npos) types += (types.empty() ? "" : ", ") + words;
        } else if (reasons.find(x.why->text) == std::string::npos) {
            if (reasons.empty()) kind = x.why->code;  // of the first row, which asks for least
            reasons += concat({(reasons.empty() ? "" : "; "), x.kernel->name, ": ", x.why->text});
        }
    }
    for (const Type t : {p.a.type, p.b.type})
        if (is_mixed(p) && !is_decoded(t))
            return {VKGEMM_ERROR_UNSUPPORTED,
                    concat({"no kernel of this library multiplies ", types_text(p), "; ", info(t).name,
                            " is multiplied with its own type only: give A and B the type ", info(t).name,
                            ", or neither of them"})};
    if (reasons.empty())
        return {VKGEMM_ERROR_UNSUPPORTED,
                concat({"no kernel of this library multiplies ", types_text(p), "; those there are take ", types,
                        (types.find("mixed") == std::string::npos ? "" : " (mixed: all but f64 and i32)")})};
    return {kind, concat({"no kernel serves this problem on the device: ", reasons})};
}

// The reason against a kernel, or the best of its schedules.
Candidate judge(const Kernel& k, const DeviceKernels& device, const Problem& p, const Request& request,
                const Result<Binding>& binding) {
    if (!binding) return {&k, binding.status(), {}};
    const Result<Tile> tile = with_constants(k.tile, request.tile);
    if (!tile) return {&k, tile.status(), {}};
    if (auto why = unfit(k, *tile, device.caps(), p, *binding)) return {&k, std::move(why), {}};
    if (const char* why = why_refused(k.module, request, *binding))
        return {&k, Refusal{VKGEMM_ERROR_UNSUPPORTED, why}, {}};
    if (const char* why = request.least ? k.module.family.refuses(*request.least) : nullptr)
        return {&k, Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({why, ", as the smallest sizes are"})}, {}};
    const Result<Schedule> best = best_schedule({k, *tile, KernelCost(k, *tile, device.caps())}, device, p, request);
    if (!best) return {&k, best.status(), {}};
    return {&k, std::nullopt, *best};
}

// Takes the kernel for the choice if it costs less than `limit`. It has the problem's types and accuracy, and the
// problem is not too large.
bool take_below(double limit, Choice& choice, const TiledKernel& k, const DeviceKernels& device, const Problem& p,
                const Request& request) {
    const Family& family = k.kernel.module.family;
    if (!groups_fit(k.tile, device.caps(), p)) return false;
    if (why_refused(k.kernel.module, k.tile, device.caps(), p)) return false;
    if (why_refused(k.kernel.module, request, choice.binding)) return false;
    if (unfit_grouping(k.kernel.module, p)) return false;
    if (request.least && family.refuses(*request.least)) return false;
    const auto schedule = schedule_below(limit, k, device, p, request);
    if (schedule) choice.kernel = &k.kernel, choice.tile = k.tile, choice.schedule = *schedule;
    return schedule.has_value();
}

bool may_serve(const DeviceKernels::Product& x, const Problem& p) {
    return x.fits && p.accuracy >= x.kernel->module.family.accuracy && x.kernel->module.has_types_of(p);
}

// For a choice among all kernels with their own tiles. They are tried in the order of what they promise: the costs of
// the first ones are the limit, by which the promises of most others rule them out.
void take_cheapest_of(bool with_native, Choice& choice, const DeviceKernels& device, const Problem& p,
                      const Request& request) {
    const auto products = device.products(p);
    std::vector<std::pair<double, size_t>> promises;
    promises.reserve(products.size());
    for (size_t i = 0; i < products.size(); ++i) {
        const DeviceKernels::Product& x = products[i];
        if (may_serve(x, p) && (with_native || !x.kernel->module.is_native()))
            promises.emplace_back(least_cost({*x.kernel, x.kernel->tile, x.cost}, device, p, request), i);
    }
    std::ranges::make_heap(promises, std::ranges::greater{});
    double least = INFINITY;
    size_t chosen = products.size();
    while (!promises.empty() && promises.front().first <= least) {
        const size_t i = promises.front().second;
        std::ranges::pop_heap(promises, std::ranges::greater{});
        promises.pop_back();
        // Of those that cost the same, the earlier one in the table is preferred.
        const double limit = i < chosen && chosen < products.size() ? std::nextafter(least, INFINITY) : least;
        const DeviceKernels::Product& x = products[i];
        if (!take_below(limit, choice, {*x.kernel, x.kernel->tile, x.cost}, device, p, request)) continue;
        least = choice.schedule.cost, chosen = i;
    }
}

Request without_terms(Request request) {
    request.corrected = false;
    return request;
}

// The terms of tiles are known of shaders alone. So whether machine code is taken is decided without them, and which
// shader is taken, with them.
void take_cheapest_of_all(Choice& choice, const DeviceKernels& device, const Problem& p, const Request& request) {
    const auto is_served = [&](const DeviceKernels::Product& x) {
        return x.kernel->module.is_native() && may_serve(x, p) &&
               !why_refused(x.kernel->module, request, choice.binding);
    };
    if (VKGEMM_HAS_NATIVE && request.corrected && std::ranges::any_of(device.products(p), is_served)) {
        take_cheapest_of(true, choice, device, p, without_terms(request));
        if (!choice.kernel || choice.kernel->module.is_native()) return;
        choice.kernel = nullptr;
        return take_cheapest_of(false, choice, device, p, request);
    }
    take_cheapest_of(true, choice, device, p, request);
}

// How much more than the cheapest kernel this one costs for `p`, predicted: at least 1. 1 if it cannot run there.
double cost_ratio(const TiledKernel& k, const Choice& like, const DeviceKernels& device, const Problem& p,
                  const Request& request) {
    Choice own, least;
    own.binding = least.binding = like.binding;
    if (!take_below(INFINITY, own, k, device, p, request)) return 1;
    take_cheapest_of_all(least, device, p, request);
    return least.kernel ? std::max(1.0, own.schedule.cost / least.schedule.cost) : 1;
}

// Takes what the nearest tuned row says, where there is one, its kernel and tile can do this problem too, and what was
// measured for the row is likely to hold here. The cost model may be wrong about a kernel, which is what rows are for,
// but it is so by much the same for its neighbours: where it sees the kernel fall behind others that were no better for
// the row's own problem, by a round of work groups for one, the row says nothing about this problem.
void follow_tuned(Choice& choice, const DeviceKernels& device, const Problem& p, const Request& request) {
    constexpr double most_behind = 1.05;  // of the ratios of costs
    if (!request.kernel.empty() || !request.tile.empty() || !request.tuned) return;
    const TunedRow* row = request.tuned->nearest(p, request.operand_alignment);  // its types and accuracy are p's
    if (!row) return;
    choice.tuned_unfit = row;
    const KernelCost cost(*row->found, row->found_tile, device.caps());
    const TiledKernel of_row{*row->found, row->found_tile, cost};
    if (p.m != row->problem.m || p.n != row->problem.n || p.k != row->problem.k || p.batch != row->problem.batch) {
        Request measured = request;
        if (row->is_built_in) measured.native = Request::Native::excluded;
        const double here = cost_ratio(of_row, choice, device, p, measured);
        if (here > most_behind && here > most_behind * cost_ratio(of_row, choice, device, row->problem, measured))
            return;
    }
    if (take_below(INFINITY, choice, of_row, device, p, request)) choice.tuned = row, choice.tuned_unfit = nullptr;
}

// Takes a native kernel in place of what a built-in row says, if it costs less.
void prefer_native(Choice& choice, const DeviceKernels& device, const Problem& p, const Request& request) {
    if (!VKGEMM_HAS_NATIVE || !choice.tuned || !choice.tuned->is_built_in) return;
    Choice plain;
    plain.binding = choice.binding;
    const KernelCost cost(*choice.kernel, choice.tile, device.caps());
    if (!take_below(INFINITY, plain, {*choice.kernel, choice.tile, cost}, device, p, without_terms(request))) return;
    for (const DeviceKernels::Product& x : device.products(p))
        if (x.kernel->module.is_native() && may_serve(x, p) &&
            take_below(plain.schedule.cost, choice, {*x.kernel, x.kernel->tile, x.cost}, device, p, request))
            plain.schedule.cost = choice.schedule.cost, choice.tuned = nullptr;
}

void take_cheapest(Choice& choice, const DeviceKernels& device, const Problem& p, const Request& request) {
    if (request.kernel.empty() && request.tile.empty()) return take_cheapest_of_all(choice, device, p, request);
    double limit = INFINITY;
    for (const DeviceKernels::Product& x : device.products(p)) {
        const Kernel& k = *x.kernel;
        if (p.accuracy < k.module.family.accuracy || !k.module.has_types_of(p)) continue;
        if (!request.kernel.empty() && request.kernel != k.name) continue;
        const Tile tile = *with_constants(k.tile, request.tile);  // select() has read it
        if (request.tile.empty() ? !x.fits : !fits_device(k, tile, device.caps())) continue;
        if (take_below(limit, choice, {k, tile, KernelCost(k, tile, device.caps())}, device, p, request))
            limit = choice.schedule.cost;
    }
}

}  // namespace

std::vector<Candidate> list_candidates(const DeviceKernels& device, const Problem& p, const Request& request) {
    return list_candidates(device, p, request, choose_binding(device.caps(), p, request));
}

std::vector<Candidate> list_candidates(const DeviceKernels& device, const Problem& p, const Request& request,
                                       const Result<Binding>& binding) {
    std::vector<Candidate> out;
    out.reserve(kernels().size());
    for (const Kernel& k : kernels()) out.push_back(judge(k, device, p, request, binding));
    return out;
}

Result<Choice> select(const DeviceKernels& device, const Problem& p, const Request& request) {
    const Result<Binding> binding = choose_binding(device.caps(), p, request);
    return binding ? select(device, p, request, *binding) : binding.status();
}

Result<Choice> select(const DeviceKernels& device, const Problem& p, const Request& request, Binding binding) {
    if (!request.kernel.empty() && !find_kernel(request.kernel))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, unknown_kernel(request.kernel)};
    if (const Result<Tile> named = with_constants(Tile{}, request.tile); !named) return named.status();

    Choice choice;
    choice.binding = binding;
    if (!too_large(device.caps(), p, binding)) {
        follow_tuned(choice, device, p, request);
        prefer_native(choice, device, p, request);
        if (!choice.kernel) take_cheapest(choice, device, p, request);
    }
    if (!choice.kernel) return nothing_fits(p, request, list_candidates(device, p, request, binding));
    return choice;
}

Result<Choice> select_for(const DeviceKernels& device, const PreparedProblem& p, const Request& request,
                          Binding binding) {
    const Problem* const least = p.least ? &*p.least : nullptr;
    Request search = request;
    search.least = least;
    if (!p.completed.batchInvariant) return select(device, p.normalised.problem, search, binding);
    const Problem one_row = normalise(invariant_reference(smallest(p), 1)).problem;
    search.tuned = nullptr;
    search.least = &one_row;
    Result<Choice> reference = select(device, normalise(invariant_reference(p.completed)).problem, search, binding);
    if (!reference) return reference;
    search.kernel = reference->kernel->name;
    search.least = least;
    return select(device, p.normalised.problem, search, binding);
}

std::string why_not_followed(const TunedRow& row, const DeviceKernels& device, const Problem& p,
                             const Request& request) {
    Request of_row = request;
    of_row.tile = row.tile;
    const Candidate x = judge(*row.found, device, p, of_row, choose_binding(device.caps(), p, request));
    return concat({"the tuned row is not followed, ", row.text, ": ",
                   (x.why ? x.why->text
                          : "its kernel is predicted to fall behind others between the sizes of the row and these")});
}

}  // namespace vkgemm::plan
