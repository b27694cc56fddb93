// SPDX-License-Identifier: MIT
#include "fuzz/parsers.h"

#include "fuzz/promise.h"
#include "host/capture.h"
#include "plan/choice/device_kernels.h"
#include "plan/choice/tuned.h"
#include "plan/device/disabled_kernels.h"
#include "plan/problem/problem_text.h"
#include "plan/steps/pipeline_key.h"
#include "plan/steps/steps.h"
#include "support/capture_text.h"
#include "support/files.h"
#include "support/same.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test::fuzz {
namespace {

using namespace vkgemm::plan;
using plan::DeviceCaps, plan::Problem, plan::Step;  // not those of vkgemm.hpp

const std::vector<DeviceCaps>& devices() {
    static const std::vector<DeviceCaps> all = [] {
        std::vector<DeviceCaps> out;
        for (const std::string& file : device_files()) out.push_back(*parse_device_caps(file_text(file)));
        return out;
    }();
    return all;
}

/// What each of them can run: found once, because that takes far longer than a choice.
const std::vector<DeviceKernels>& device_kernels() {
    static const std::vector<DeviceKernels> all(devices().begin(), devices().end());
    return all;
}

/// A refusal has a reason. A character that it names is in the text or just behind it.
void check_refusal(const Status& r, std::string_view text) {
    promise(!r.text.empty(), "a refusal says why");
    constexpr std::string_view head = "character ";
    if (!r.text.starts_with(head)) return;
    const std::string_view rest = std::string_view(r.text).substr(head.size());
    const auto number = readNumber<size_t>(rest.substr(0, rest.find(':')));
    promise(number && *number >= 1 && *number <= text.size() + 1, "a refusal names a character of the text");
}

/// A valid problem gets a choice and steps, or is refused with a reason.
void plan_on(const DeviceKernels& kernels, const Problem& completed) {
    const DeviceCaps& device = kernels.caps();
    const Normalised n = normalise(completed);
    if (const auto why = unfit_levels(completed, n)) return promise(!why->text.empty(), "a refusal says why");
    Request request;
    request.workspace_limit = uint64_t{64} << 20;
    const auto choice = select(kernels, n.problem, request);
    if (!choice) return promise(!choice.status().text.empty(), "a refusal says why");
    const Steps steps = make_steps(*choice, completed, n, device, request);
    promise(!steps.steps.empty(), "what is chosen has a step");
    promise(steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes <= request.workspace_limit,
            "the workspace is within its limit");
    for (const Step& s : steps.steps) {
        promise(s.groups_x >= 1 && s.groups_x <= device.max_groups_x, "work groups along x are within the limit");
        promise(s.groups_y >= 1 && s.groups_y <= device.max_groups_y, "work groups along y are within the limit");
        promise(s.tile.WG <= device.max_invocations, "invocations are within the limit");
    }
}

}  // namespace

void problem(std::string_view text) {
    current = text;
    const auto read = parse_problem(text);
    if (!read) return check_refusal(read.status(), text);
    const std::string line = to_text(read->problem, read->alpha, read->beta);
    const auto again = parse_problem(line);
    promise(bool(again), "the line of a problem can be read");
    promise(to_text(again->problem, again->alpha, again->beta) == line,
            "the line of a problem is written the same again");
    const auto same_number = [](double x, double y) { return x == y || (x != x && y != y); };
    promise(same_number(again->alpha, read->alpha) && same_number(again->beta, read->beta),
            "the factors are the same again");
    const auto completed = complete(read->problem), twice = complete(again->problem);
    promise(bool(completed) == bool(twice), "a problem that is read again breaks the same rules");
    if (!completed) return check_refusal(completed.status(), text);
    promise(same(*completed, *twice), "the line of a problem means the same again");
    if (is_empty(*completed)) return;
    for (const DeviceKernels& device : device_kernels()) plan_on(device, *completed);
}

void tile(std::string_view text) {
    current = text;
    const auto read = with_constants({}, text);
    if (!read) return check_refusal(read.status(), text);
    const auto again = with_constants({}, to_text(*read));
    promise(again && *again == *read, "the text of a tile means the same again");
    const TileLimits limits{.shared_bytes = 49152, .max_invocations = 1024};
    for (const Kernel& k : plan::kernels()) {
        const Tile changed = *with_constants(k.tile, text);
        const ElementBytes bytes = k.module.element_bytes();
        const TileRules rules = broken_rules(k.module.family, changed, bytes, limits);
        promise(rules.count == 0 || !to_text(rules).empty(), "broken rules have words");
        if (rules.count) continue;
        promise(k.module.family.shared_bytes(changed, bytes) <= limits.shared_bytes,
                "shared memory is within its limit");
        const double registers = k.module.family.registers(changed, bytes);
        promise(registers > 0 && registers < 1e6, "a sound tile has some registers");
    }
}

void tuned(std::string_view text) {
    current = text;
    const auto rows = parse_tuned(text);
    if (!rows) return promise(!rows.status().text.empty(), "a refusal says why");
    for (const DeviceCaps& device : devices()) {
        const std::vector<TunedRow> mine = tuned_for(device, *rows);
        const TunedRows index(mine);
        promise(mine.size() <= rows->size(), "no row is made up");
        for (const std::string& why : skipped_in_short(mine)) promise(!why.empty(), "a skipped row has a reason");
        for (const FamilyWeights& fitted : fitted_weights(mine))
            promise(fitted.weights.steps >= 0.01 && fitted.weights.passes <= 100, "weights are within their limits");
        for (const TunedRow& row : mine) {
            if (row.model) continue;  // it has no problem
            const auto distance = tuned_distance(row, row.problem, 16);
            promise(distance && *distance == 0, "a row is near to its own problem");
            const TunedRow* nearest = index.nearest(row.problem, 16);
            promise(!nearest || nearest->skipped.empty(), "a row that cannot be followed is not");
        }
    }
}

void disabled_kernels(std::string_view text) {
    current = text;
    const auto rows = parse_disabled_kernels(text);
    if (!rows) return promise(!rows.status().text.empty(), "a refusal says why");
    std::string lines;
    for (const DisabledKernelRow& v : *rows) lines += v.device + " | " + v.kernel + " | " + v.why + "\n";
    const auto again = parse_disabled_kernels(lines);
    promise(again && again->size() == rows->size(), "disabled kernels that are written again can be read");
    for (size_t i = 0; i < rows->size(); ++i)
        promise(again->at(i).kernel == rows->at(i).kernel && again->at(i).why == rows->at(i).why, "and mean the same");
    for (DeviceCaps device : devices()) {
        mark_disabled(*rows, device);
        promise(device.disabled.size() <= rows->size(), "no kernel is left out that no row names");
    }
}

void capture(std::string_view text) {
    current = text;
    const auto read = host::detail::parse_capture(text);
    if (!read) return promise(!read.status().text.empty(), "a refusal says why");
    const std::string file = test::capture_text(*read);
    const auto again = host::detail::parse_capture(file);
    promise(bool(again), "a capture that is written again can be read");
    promise(test::capture_text(*again) == file, "a capture is written the same again");
}

void pipeline_keys(std::string_view text) {
    current = text;
    for (size_t begin = 0; begin < text.size();) {
        const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
        begin += line.size() + 1;
        const auto read = parse_pipeline_key(line);
        if (!read) {
            promise(!read.status().text.empty(), "a refusal says why");
            continue;
        }
        const std::string key = to_text(*read);
        const auto again = parse_pipeline_key(key);
        promise(again && to_text(*again) == key, "a key is written the same again");
        promise(to_text(key_of(step_of(*read), read->binding)) == key, "the step of a key has that key");
        for (const DeviceCaps& device : devices())
            if (const auto why = unfit(*read, device)) promise(!why->text.empty(), "a refusal says why");
    }
}

void device_caps(std::string_view text) {
    current = text;
    const auto read = parse_device_caps(text);
    if (!read) return check_refusal(read.status(), text);
    const std::string lines = to_text(*read);
    const auto again = parse_device_caps(lines);
    promise(again && to_text(*again) == lines, "the text of a device means the same again");
}

}  // namespace vkgemm::test::fuzz
