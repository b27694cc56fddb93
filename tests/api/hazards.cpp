// SPDX-License-Identifier: MIT
// The barriers that are missing between commands, and the barrier that two lists of commands need.
#include <algorithm>
#include <functional>

#include "api/api.h"
#include "support/random.h"

using namespace vkgemm::test;
using vkgemm::Command;

namespace {
constexpr VkPipelineStageFlags2 compute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, copy = VK_PIPELINE_STAGE_2_COPY_BIT,
                                fragment = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                all_commands = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
constexpr VkAccessFlags2 reads = VK_ACCESS_2_SHADER_STORAGE_READ_BIT, writes = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                         copies = VK_ACCESS_2_TRANSFER_WRITE_BIT;

/// A barrier of all memory or of one range.
class OneBarrier {
   public:
    OneBarrier(VkPipelineStageFlags2 from, VkAccessFlags2 made, VkPipelineStageFlags2 to, VkAccessFlags2 used) {
        memory_.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
        memory_.srcStageMask = from;
        memory_.srcAccessMask = made;
        memory_.dstStageMask = to;
        memory_.dstAccessMask = used;
        info_.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
        info_.memoryBarrierCount = 1;
    }
    explicit OneBarrier(const VkMemoryBarrier2& b)
        : OneBarrier(b.srcStageMask, b.srcAccessMask, b.dstStageMask, b.dstAccessMask) {}
    OneBarrier& of(const vkgemm::host::Buffer& buffer, VkDeviceSize offset, VkDeviceSize size) {
        range_.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2;
        range_.srcStageMask = memory_.srcStageMask;
        range_.srcAccessMask = memory_.srcAccessMask;
        range_.dstStageMask = memory_.dstStageMask;
        range_.dstAccessMask = memory_.dstAccessMask;
        range_.buffer = buffer.handle();
        range_.offset = offset;
        range_.size = size;
        info_.memoryBarrierCount = 0;
        info_.bufferMemoryBarrierCount = 1;
        return *this;
    }
    Command command() {
        info_.pMemoryBarriers = &memory_;
        info_.pBufferMemoryBarriers = &range_;
        return {.barrier = &info_};
    }

   private:
    VkMemoryBarrier2 memory_{};
    VkBufferMemoryBarrier2 range_{};
    VkDependencyInfo info_{};
};

VkgemmRunAccess touch(const vkgemm::host::Buffer& buffer, VkDeviceSize offset, VkDeviceSize size,
                      VkPipelineStageFlags2 stage, VkAccessFlags2 access) {
    return {.slot = VKGEMM_SLOT_A,
            .reserved = 0,
            .stage = stage,
            .access = access,
            .buffer = buffer.handle(),
            .offset = offset,
            .size = size,
            .address = 0};
}

std::vector<VkgemmHazard> find(const std::vector<Command>& commands) {
    const auto found = vkgemm::findHazards(commands);
    REQUIRE_MESSAGE(bool(found), found.status().text);
    return *found;
}

/// Two products of 16x16x16, of which the second reads the first one's result. An operand has 1 KiB.
struct Frame {
    vkgemm::host::Buffer memory = buffer(1 << 16);
    vkgemm::Plan plan;
    Command first{.name = "hidden layer"}, second{.name = "output"};

    explicit Frame(VkgemmOperandKind kind = VKGEMM_OPERANDS_BUFFERS) {
        auto made =
            device().context().createPlan({.m = 16, .n = 16, .k = 16}, {.operands = kind, .flags = VKGEMM_PLAN_DRY});
        REQUIRE_MESSAGE(bool(made), made.status().text);
        plan = *std::move(made);
        first.plan = second.plan = &plan;
        first.run = {.a = at(0), .b = at(1), .d = at(2)};
        second.run = {.a = at(2), .b = at(1), .d = at(3)};
    }
    vkgemm::Operand at(VkDeviceSize kilobyte) const { return {.buffer = memory.handle(), .offset = kilobyte * 1024}; }
};

bool has_descriptors() {
    return bool(device().context().createPlan({.m = 16, .n = 16, .k = 16},
                                              {.operands = VKGEMM_OPERANDS_DESCRIPTORS, .flags = VKGEMM_PLAN_DRY}));
}

}  // namespace

TEST_CASE("hazards: a missing barrier is named by its commands, operands and bytes") {
    for (const bool addresses : {false, true}) {
        if (addresses ? !device().hasAddresses() : !has_descriptors()) continue;
        const Frame f(addresses ? VKGEMM_OPERANDS_ADDRESSES : VKGEMM_OPERANDS_DESCRIPTORS);
        const auto found = find({f.first, f.second});
        REQUIRE(found.size() == 1);
        const VkgemmHazard& h = found[0];
        CHECK(h.kind == VKGEMM_HAZARD_READ_AFTER_WRITE);
        CHECK((h.first == 0 && h.second == 1));
        CHECK((h.firstSlot == VKGEMM_SLOT_D && h.secondSlot == VKGEMM_SLOT_A));
        CHECK((h.firstStage == compute && h.secondStage == compute));
        CHECK((h.firstAccess == writes && h.secondAccess == reads));
        CHECK(h.buffer == f.memory.handle());
        CHECK((h.offset == 2048 && h.size == 1024));
        CHECK(h.address == (addresses ? f.memory.address() + 2048 : 0));
        CHECK(has_words(h.text, "commands[1] 'output' reads (operand a)",
                        "commands[0] 'hidden layer' writes (operand d)", "bytes 2048 to 3072",
                        "no barrier from COMPUTE_SHADER, SHADER_STORAGE_WRITE to COMPUTE_SHADER, SHADER_STORAGE_READ"));
    }
}

TEST_CASE("hazards: a barrier must have the stages and both accesses") {
    const Frame f;
    const auto with = [&](OneBarrier b) { return find({f.first, b.command(), f.second}); };
    CHECK(with(OneBarrier(compute, writes, compute, reads)).empty());
    CHECK(with(OneBarrier(compute, VK_ACCESS_2_SHADER_WRITE_BIT, compute, VK_ACCESS_2_SHADER_READ_BIT)).empty());
    CHECK(with(OneBarrier(all_commands, VK_ACCESS_2_MEMORY_WRITE_BIT, all_commands, VK_ACCESS_2_MEMORY_READ_BIT))
              .empty());
    const std::pair<OneBarrier, std::string> rows[] = {
        {OneBarrier(copy, writes, compute, reads), "no barrier from COMPUTE_SHADER"},
        {OneBarrier(compute, writes, fragment, reads), "no barrier from COMPUTE_SHADER"},
        {OneBarrier(compute, 0, compute, reads), "SHADER_STORAGE_WRITE in its srcAccessMask"},
        {OneBarrier(compute, copies, compute, reads), "in its srcAccessMask"},
        {OneBarrier(compute, writes, compute, 0), "SHADER_STORAGE_READ in its dstAccessMask"},
        {OneBarrier(compute, writes, all_commands, writes), "in its dstAccessMask"},
    };
    for (const auto& [barrier, word] : rows) {
        const auto found = with(barrier);
        REQUIRE(found.size() == 1);
        CHECK_MESSAGE(has_words(found[0].text, word), std::string(found[0].text));
    }
    CHECK(find({f.first, f.second, OneBarrier(compute, writes, compute, reads).command()}).size() == 1);
}

TEST_CASE("hazards: the flags of a run are barriers") {
    Frame f;
    f.first.run.flags = VKGEMM_RECORD_BARRIER_AFTER;
    CHECK(find({f.first, f.second}).empty());
    f.first.run.flags = VKGEMM_RECORD_BARRIER_BEFORE;
    CHECK(find({f.first, f.second}).size() == 1);
    f.first.run.flags = 0;
    f.second.run.flags = VKGEMM_RECORD_BARRIER_BEFORE;
    CHECK(find({f.first, f.second}).empty());
    CHECK(find({f.first, f.second, f.first, f.second}).size() == 1);  // the third writes what the second reads
}

TEST_CASE("hazards: a write after a read needs an order, a write after a write also the accesses") {
    Frame f;
    OneBarrier order(compute, 0, compute, 0), whole(compute, writes, compute, writes);
    f.second.run = {.a = f.at(4), .b = f.at(1), .d = f.at(0)};  // overwrites A of the first
    auto found = find({f.first, f.second});
    REQUIRE((found.size() == 1 && found[0].kind == VKGEMM_HAZARD_WRITE_AFTER_READ));
    CHECK(has_words(found[0].text, "no barrier from COMPUTE_SHADER to COMPUTE_SHADER"));
    CHECK(find({f.first, order.command(), f.second}).empty());
    f.second.run = {.a = f.at(4), .b = f.at(1), .d = f.at(2)};
    found = find({f.first, order.command(), f.second});
    REQUIRE((found.size() == 1 && found[0].kind == VKGEMM_HAZARD_WRITE_AFTER_WRITE));
    CHECK(find({f.first, whole.command(), f.second}).empty());
    f.second.run = {.a = f.at(0), .b = f.at(1), .d = f.at(3)};  // both only read A and B
    CHECK(find({f.first, f.second}).empty());
}

TEST_CASE("hazards: a write after a write that was read in between needs an order alone") {
    const Frame f;
    OneBarrier order(compute, 0, compute, 0), shows(compute, writes, compute, reads);
    CHECK(find({f.first, shows.command(), f.second, order.command(), f.first}).empty());
    auto found = find({f.first, shows.command(), f.second, f.first});
    CHECK((found.size() == 1 && found[0].kind == VKGEMM_HAZARD_WRITE_AFTER_READ));
    found = find({f.first, shows.command(), order.command(), f.first});
    REQUIRE((found.size() == 1 && found[0].kind == VKGEMM_HAZARD_WRITE_AFTER_WRITE));
    const VkgemmRunAccess half[] = {touch(f.memory, 2048, 512, compute, reads)},
                          all[] = {touch(f.memory, 2048, 1024, compute, reads | writes)},
                          drawn[] = {touch(f.memory, 2048, 1024, fragment, reads)};
    const Command part{.accesses = half}, sum{.accesses = all}, draws{.accesses = drawn};
    found = find({f.first, shows.command(), part, order.command(), f.first});
    CHECK((found.size() == 1 && found[0].offset == 2560 && found[0].size == 512));  // the half that nobody read
    CHECK(find({f.first, shows.command(), f.second, order.command(), sum}).empty());
    OneBarrier to_draw(compute, writes, fragment, reads), after(fragment, 0, compute, 0);
    CHECK(find({f.first, to_draw.command(), draws, after.command(), f.first}).empty());
    CHECK(find({f.first, to_draw.command(), draws, order.command(), f.first}).size() == 2);  // neither wait is there
    CHECK(find({draws, part, sum}).size() == 2);  // no read is cut where another one ends
}

TEST_CASE("hazards: a barrier shows only what it, or one that it waits for, makes available") {
    const Frame f;
    OneBarrier to_draw(compute, writes, fragment, reads), beside(compute, 0, compute, reads),
        behind(fragment, 0, compute, reads);
    const auto found = find({f.first, to_draw.command(), beside.command(), f.second});
    REQUIRE(found.size() == 1);
    CHECK(has_words(found[0].text, "no barrier from COMPUTE_SHADER to COMPUTE_SHADER has SHADER_STORAGE_WRITE",
                    "in its srcAccessMask"));
    CHECK(find({f.first, to_draw.command(), behind.command(), f.second}).empty());
}

TEST_CASE("hazards: what is overwritten is compared with the last writer alone") {
    const Frame f;
    const auto found = find({f.first, f.first, f.second});
    REQUIRE(found.size() == 2);
    CHECK((found[0].kind == VKGEMM_HAZARD_WRITE_AFTER_WRITE && found[0].first == 0 && found[0].second == 1));
    CHECK((found[1].kind == VKGEMM_HAZARD_READ_AFTER_WRITE && found[1].first == 1 && found[1].second == 2));
}

TEST_CASE("hazards: a barrier of a range covers its bytes, and the rest is missing") {
    const Frame f;
    OneBarrier b(compute, writes, compute, reads);
    CHECK(find({f.first, b.of(f.memory, 2048, 1024).command(), f.second}).empty());
    CHECK(find({f.first, b.of(f.memory, 0, VK_WHOLE_SIZE).command(), f.second}).empty());
    auto found = find({f.first, b.of(f.memory, 1000, 1048 + 512).command(), f.second});
    REQUIRE(found.size() == 1);
    CHECK((found[0].offset == 2560 && found[0].size == 512));
    found = find({f.first, b.of(f.memory, 2048 + 256, 512).command(), f.second});
    CHECK(found.size() == 2);
    for (const VkgemmHazard& h : found) CHECK((h.size == 256 && (h.offset == 2048 || h.offset == 2816)));
    const auto other = buffer(4096);
    CHECK(find({f.first, b.of(other, 0, VK_WHOLE_SIZE).command(), f.second}).size() == 1);
}

TEST_CASE("hazards: work of the engine, and chains of barriers") {
    const Frame f;
    const VkgemmRunAccess upload[] = {touch(f.memory, 0, 2048, copy, copies)};
    const VkgemmRunAccess draw[] = {touch(f.memory, 2048, 1024, fragment, VK_ACCESS_2_SHADER_SAMPLED_READ_BIT)};
    const Command uploads{.name = "upload", .accesses = upload}, draws{.name = "draw", .accesses = draw};
    const auto found = find({uploads, f.first, draws});
    CHECK(found.size() == 3);  // A and B, and D
    CHECK(found[0].firstSlot == VKGEMM_SLOT_MAX_ENUM);
    CHECK(has_words(found[0].text, "commands[0] 'upload' writes: buffer"));
    OneBarrier in(VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, copies, compute, reads),
        out(compute, writes, VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, VK_ACCESS_2_SHADER_READ_BIT);
    CHECK(find({uploads, in.command(), f.first, out.command(), draws}).empty());

    // Stages of the graphics pipeline stand for those before them, or after them.
    OneBarrier after_draw(VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT, 0, VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT, 0),
        too_early(VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, 0, compute, 0);
    CHECK(find({draws, after_draw.command(), f.first}).empty());
    CHECK(find({draws, too_early.command(), f.first}).size() == 1);

    // The first barrier makes the copy available, the second, which waits for the first, shows it to the run.
    OneBarrier to_vertex(copy, copies, VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, 0),
        to_compute(fragment, 0, compute, reads), from_compute(compute, 0, compute, reads);
    CHECK(find({uploads, to_vertex.command(), to_compute.command(), f.first}).empty());
    CHECK(find({uploads, to_vertex.command(), from_compute.command(), f.first}).size() == 2);
    CHECK(find({uploads, to_compute.command(), to_vertex.command(), f.first}).size() == 2);
}

TEST_CASE("hazards: the host is no command, so ALL_COMMANDS does not stand for it") {
    const Frame f;
    constexpr VkPipelineStageFlags2 host = VK_PIPELINE_STAGE_2_HOST_BIT, top = VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT,
                                    bottom = VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT;
    constexpr VkAccessFlags2 any_read = VK_ACCESS_2_MEMORY_READ_BIT, any_write = VK_ACCESS_2_MEMORY_WRITE_BIT;
    const auto alone = [&](VkDeviceSize kilobyte, VkAccessFlags2 access) {
        return touch(f.memory, kilobyte * 1024, 1024, host, access);
    };
    const VkgemmRunAccess reads_d[] = {alone(2, VK_ACCESS_2_HOST_READ_BIT)},
                          writes_a[] = {alone(0, VK_ACCESS_2_HOST_WRITE_BIT)};
    const Command shows{.name = "show", .accesses = reads_d}, fills{.name = "fill", .accesses = writes_a};
    const auto found = [&](const Command& before, OneBarrier b, const Command& after) {
        return find({before, b.command(), after}).size();
    };
    CHECK(found(f.first, OneBarrier(compute, writes, all_commands, any_read), shows) == 1);
    CHECK(found(f.first, OneBarrier(compute, writes, all_commands | host, any_read), shows) == 0);
    CHECK(found(f.first, OneBarrier(compute, writes, host, any_read), shows) == 0);
    CHECK(found(fills, OneBarrier(all_commands, any_write, compute, reads), f.first) == 1);
    CHECK(found(fills, OneBarrier(host, any_write, compute, reads), f.first) == 0);
    CHECK(found(shows, OneBarrier(all_commands, any_write, all_commands, any_write), f.first) == 1);  // a fence
    CHECK(found(shows, OneBarrier(all_commands | host, any_write, all_commands, any_write), f.first) == 0);
    // The order alone, which a write after a read needs.
    CHECK(found(shows, OneBarrier(bottom, 0, compute, 0), f.first) == 1);
    CHECK(found(shows, OneBarrier(bottom | host, 0, compute, 0), f.first) == 0);
    CHECK(found(f.first, OneBarrier(compute, 0, top, 0), fills) == 1);
    CHECK(found(f.first, OneBarrier(compute, 0, top | host, 0), fills) == 0);
}

TEST_CASE("hazards: whatever only reads is no writer") {
    const auto memory = buffer(4096);
    for (const VkAccessFlags2 access :
         {VK_ACCESS_2_SHADER_BINDING_TABLE_READ_BIT_KHR, VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR,
          VK_ACCESS_2_DESCRIPTOR_BUFFER_READ_BIT_EXT, VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT,
          VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_READ_BIT_EXT, VK_ACCESS_2_COLOR_ATTACHMENT_READ_NONCOHERENT_BIT_EXT,
          VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT,
          VK_ACCESS_2_INDEX_READ_BIT, VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT, VK_ACCESS_2_UNIFORM_READ_BIT,
          VK_ACCESS_2_TRANSFER_READ_BIT}) {
        CAPTURE(access);
        const VkgemmRunAccess touched[] = {touch(memory, 0, 64, all_commands, access)};
        const Command reader{.accesses = touched};
        CHECK(find({reader, reader}).empty());
    }
}

TEST_CASE("hazards: VK_WHOLE_SIZE ends with its buffer") {
    constexpr VkDeviceSize from = 1024;
    const auto alone = buffer(8192);
    const VkgemmRunAccess written[] = {touch(alone, from, VK_WHOLE_SIZE, copy, copies)},
                          read[] = {touch(alone, from, 4096, compute, reads),
                                    touch(alone, 2048, VK_WHOLE_SIZE, compute, reads),
                                    touch(alone, 7000, 16, compute, reads)};
    const Command fills{.accesses = written}, uses{.accesses = read};
    auto found = find({fills, uses});
    REQUIRE(found.size() == 3);
    CHECK((found[1].offset == 2048 && found[1].size == VK_WHOLE_SIZE));
    CHECK_MESSAGE(has_words(found[1].text, "bytes 2048 to the end"), std::string(found[1].text));
    const auto ranges = vkgemm::bufferBarriersBetween(std::vector{fills}, std::vector{uses});
    REQUIRE((ranges && ranges->size() == 1));
    CHECK((ranges->at(0).offset == from && ranges->at(0).size == VK_WHOLE_SIZE));

    if (!device().hasAddresses()) return;  // of which all buffers have their place in one memory
    const auto one = buffer(8192), other = buffer(8192);
    const auto& low = one.address() < other.address() ? one : other;
    const auto& high = one.address() < other.address() ? other : one;
    const Frame f(VKGEMM_OPERANDS_ADDRESSES);
    Command first = f.first, second = f.first;
    first.run.a.buffer = low.handle();
    second.run.a.buffer = high.handle();
    const VkgemmRunAccess whole[] = {touch(low, from, VK_WHOLE_SIZE, copy, copies)},
                          again[] = {touch(low, from, VK_WHOLE_SIZE, compute, reads)},
                          next[] = {touch(high, 0, 64, copy, copies)};
    const Command clears{.accesses = whole}, reads_low{.accesses = again}, starts{.accesses = next};
    OneBarrier all(all_commands, VK_ACCESS_2_MEMORY_WRITE_BIT, all_commands,
                   VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
    CHECK(find({clears, starts, all.command(), first, all.command(), second}).empty());
    found = find({clears, reads_low, all.command(), first, all.command(), second});
    REQUIRE(found.size() == 1);  // and no byte of it is behind the buffer
    CHECK((found[0].buffer == low.handle() && found[0].offset == from));
    CHECK(found[0].size == VK_WHOLE_SIZE);
}

TEST_CASE("hazards: memory of addresses is compared by address") {
    if (!device().hasAddresses()) return;
    const Frame f(VKGEMM_OPERANDS_ADDRESSES);
    Command by_address = f.second;
    by_address.run.a = {.address = f.memory.address() + 2048 + 256};
    by_address.run.d = f.at(6);
    auto found = find({f.first, by_address});
    REQUIRE(found.size() == 1);
    CHECK((found[0].offset == 2304 && found[0].size == 768));
    CHECK(found[0].address == f.memory.address() + 2304);
    Command first = f.first;
    first.run.d = {.address = f.memory.address() + 2048};
    found = find({first, by_address});
    REQUIRE(found.size() == 1);
    CHECK(found[0].buffer == VK_NULL_HANDLE);
    CHECK(found[0].address == f.memory.address() + 2304);
    CHECK(has_words(found[0].text, "addresses 0x"));
    OneBarrier b(compute, writes, compute, reads);
    CHECK(
        find({first, b.of(f.memory, 0, VK_WHOLE_SIZE).command(), by_address}).empty());  // b of both runs has a buffer

    const std::vector<Command> before{first}, after{by_address};
    CHECK(vkgemm::bufferBarriersBetween(before, after).status().code == VKGEMM_ERROR_UNSUPPORTED);
    const auto all = vkgemm::barrierBetween(before, after);
    REQUIRE(all);
    OneBarrier filled(*all);
    CHECK(find({first, filled.command(), by_address}).empty());
}

TEST_CASE("barriers between: exactly what is missing") {
    const Frame f;
    const std::vector<Command> before{f.first}, after{f.second};
    const auto memory = vkgemm::barrierBetween(before, after);
    REQUIRE(memory);
    CHECK(memory->sType == VK_STRUCTURE_TYPE_MEMORY_BARRIER_2);
    CHECK((memory->srcStageMask == compute && memory->srcAccessMask == writes));
    CHECK((memory->dstStageMask == compute && memory->dstAccessMask == reads));
    const auto ranges = vkgemm::bufferBarriersBetween(before, after);
    REQUIRE(ranges);
    REQUIRE(ranges->size() == 1);
    CHECK((ranges->at(0).buffer == f.memory.handle() && ranges->at(0).offset == 2048 && ranges->at(0).size == 1024));
    CHECK(ranges->at(0).sType == VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2);
    CHECK(ranges->at(0).srcQueueFamilyIndex == VK_QUEUE_FAMILY_IGNORED);
    Command waits = f.second;
    waits.run.flags = VKGEMM_RECORD_BARRIER_BEFORE;
    const std::vector<Command> waiting{waits};
    CHECK(vkgemm::barrierBetween(before, waiting)->srcStageMask == 0);
    CHECK(vkgemm::bufferBarriersBetween(before, waiting)->empty());
    CHECK(vkgemm::barrierBetween({}, after)->srcStageMask == 0);
}

TEST_CASE("barriers between: random commands are right with them, and wrong without any one of them") {
    const Frame f;
    const auto turn = [&](uint64_t seed, bool ranges) {
        Random random(seed);
        std::vector<VkgemmRunAccess> touched(8);
        std::vector<Command> all;
        for (VkgemmRunAccess& t : touched) {
            const bool copying = random.one_in(3);
            t = touch(f.memory, 256 * random.below(8), 128 + 128 * random.below(8), copying ? copy : compute,
                      copying            ? copies
                      : random.one_in(3) ? writes
                      : random.one_in(2) ? reads
                                         : reads | writes);
            all.push_back({.accesses = {&t, 1}});
        }
        std::vector<std::vector<VkBufferMemoryBarrier2>> of_ranges(all.size());
        std::vector<VkMemoryBarrier2> of_memory(all.size());
        std::vector<VkDependencyInfo> infos(all.size());
        std::vector<Command> whole;
        std::vector<size_t> barriers;  // their places in `whole`
        for (size_t i = 0; i < all.size(); ++i) {
            const std::vector<Command> next{all[i]};
            VkDependencyInfo& info = infos[i];
            info = {};
            info.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
            if (ranges) {
                of_ranges[i] = *vkgemm::bufferBarriersBetween(whole, next);
                info.bufferMemoryBarrierCount = static_cast<uint32_t>(of_ranges[i].size());
                info.pBufferMemoryBarriers = of_ranges[i].data();
            } else {
                of_memory[i] = *vkgemm::barrierBetween(whole, next);
                info.memoryBarrierCount = of_memory[i].srcStageMask != 0;
                info.pMemoryBarriers = &of_memory[i];
            }
            if (info.memoryBarrierCount || info.bufferMemoryBarrierCount) {
                barriers.push_back(whole.size());
                whole.push_back({.barrier = &info});
            }
            whole.push_back(all[i]);
        }
        CHECK(find(whole).empty());
        for (const size_t i : barriers) {
            std::vector<Command> without = whole;
            without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
            CHECK(!find(without).empty());
        }
        return barriers.size();
    };
    size_t removed = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed) removed += turn(seed, seed % 2);
    CHECK(removed > 150);
}

TEST_CASE("hazards: what cannot be read is refused by its command") {
    const Frame f;
    OneBarrier b(compute, writes, compute, reads);
    VkgemmCommand commands[2] = {};
    const VkgemmRun run = vkgemm::convert::toC(f.first.run);
    for (VkgemmCommand& c : commands) {
        c.structSize = sizeof c;
        c.plan = f.plan.handle();
        c.run = &run;
    }
    uint32_t count = 7;
    const auto ask = [&] {
        return said([&](VkgemmError* e) { return vkgemmFindHazards(commands, 2, &count, nullptr, e); });
    };
    expect(ask(), VKGEMM_SUCCESS, {});
    CHECK(count == 1);  // both write one D
    VkgemmHazard one[1];
    count = 0;
    expect(said([&](VkgemmError* e) { return vkgemmFindHazards(commands, 2, &count, one, e); }), VKGEMM_INCOMPLETE,
           {"1 hazards", "room for 0"});
    const auto refuse = [&](const std::function<void(VkgemmCommand&)>& change, const std::vector<std::string>& words) {
        const VkgemmCommand kept = commands[1];
        change(commands[1]);
        expect(ask(), VKGEMM_ERROR_INVALID_ARGUMENT, words);
        commands[1] = kept;
    };
    VkgemmRunAccess access = touch(f.memory, 0, 16, compute, reads);
    refuse([](VkgemmCommand& c) { c.run = nullptr; }, {"commands[1]: ", "run is null"});
    refuse([](VkgemmCommand& c) { c.plan = nullptr; }, {"commands[1]: ", "plan is null"});
    refuse([](VkgemmCommand& c) { c.structSize += 8; }, {"commands[1]: ", "structSize"});
    refuse([](VkgemmCommand& c) { c.accessCount = 1; }, {"commands[1]: ", "accesses is null"});
    refuse([&](VkgemmCommand& c) { c.barrier = b.command().barrier; }, {"commands[1]: ", "a barrier and work"});
    for (const auto& [member, word] : {std::pair{&VkgemmRunAccess::stage, "stage is 0"},
                                       {&VkgemmRunAccess::access, "access is 0"},
                                       {&VkgemmRunAccess::size, "size is 0"}}) {
        VkgemmRunAccess broken = access;
        broken.*member = 0;
        refuse(
            [&](VkgemmCommand& c) {
                c.accessCount = 1;
                c.accesses = &broken;
            },
            {"commands[1]: accesses[0]: ", word});
    }
    access.buffer = VK_NULL_HANDLE;
    refuse(
        [&](VkgemmCommand& c) {
            c.accessCount = 1;
            c.accesses = &access;
        },
        {"commands[1]: accesses[0]: ", "neither a buffer nor an address"});
    expect(said([&](VkgemmError* e) { return vkgemmFindHazards(commands, 2, nullptr, nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"count is null"});
    expect(said([&](VkgemmError* e) { return vkgemmFindHazards(nullptr, 2, &count, nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"commands is null"});
    commands[1].plan = nullptr;
    expect(said([&](VkgemmError* e) {
               return vkgemmBarrierBetween(commands, 1, commands + 1, 1, nullptr, nullptr, nullptr, e);
           }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"after[0]: "});
}
