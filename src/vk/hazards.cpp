// SPDX-License-Identifier: MIT
#include "vk/hazards.h"

#include <algorithm>
#include <cstring>

#include "plan/base/concat.h"
#include "plan/problem/problem.h"
#include "vk/stages.h"

namespace vkgemm::vk {
namespace {

using plan::concat;

uint64_t end_of(uint64_t begin, uint64_t size) { return size > UINT64_MAX - begin ? UINT64_MAX : begin + size; }

bool has_all(uint64_t mask, uint64_t bits) { return (bits & ~mask) == 0; }

std::string verb(VkAccessFlags2 access) {
    const bool writes = writes_of(access) != 0, reads = access != writes_of(access);
    return writes && reads ? "reads and writes" : writes ? "writes" : "reads";
}

std::string command_text(const Touch& t, const std::vector<std::string>& names) {
    const std::string& name = names[t.command];
    const std::string what =
        t.slot == VKGEMM_SLOT_MAX_ENUM ? std::string() : concat({" (operand ", plan::slot_name(t.slot), ")"});
    return concat(
        {"commands[", t.command, "]", (name.empty() ? "" : concat({" '", name, "'"})), " ", verb(t.access), what});
}

std::string lack_text(const FoundHazard& h) {
    const std::string from = stages_text(h.first.stage), to = stages_text(h.second.stage);
    const std::string made = access_text(writes_of(h.first.access)), used = access_text(h.second.access);
    switch (h.lacks) {
        case FoundHazard::Lacks::order:
            return writes_of(h.first.access) ? concat({"no barrier from ", from, ", ", made, " to ", to, ", ", used})
                                             : concat({"no barrier from ", from, " to ", to});
        case FoundHazard::Lacks::availability:
            return concat(
                {"they are in order, but no barrier from ", from, " to ", to, " has ", made, " in its srcAccessMask"});
        case FoundHazard::Lacks::visibility:
            break;
    }
    return concat({"they are in order, but no barrier to ", to, " has ", used, " in its dstAccessMask"});
}

// By address. Everything from `begin` on ends at the latest where another buffer begins.
Bytes bytes_at(const BufferAddresses& all, uint64_t begin, VkDeviceSize size) {
    uint64_t end = end_of(begin, size);
    if (size == VK_WHOLE_SIZE)
        for (const auto& [other, address] : all)
            if (address > begin) end = std::min<uint64_t>(end, address);
    return {VK_NULL_HANDLE, begin, end};
}

// Do both reach the end of the memory, wherever that is? Where the next buffer begins is not in this one.
bool reaches_end(const FoundHazard& h) {
    if (h.bytes.end == UINT64_MAX) return true;
    const auto ends = [&](const Touch& t) { return t.stated.size == VK_WHOLE_SIZE && t.bytes.end == h.bytes.end; };
    return ends(h.first) && ends(h.second);
}

}  // namespace

void add_address(BufferAddresses& all, const VkgemmRunAccess& x) {
    if (x.buffer && x.address && x.address >= x.offset) all.emplace(x.buffer, x.address - x.offset);
}

Bytes bytes_of(const BufferAddresses& all, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size) {
    const auto known = all.find(buffer);
    if (known == all.end()) return {buffer, offset, end_of(offset, size)};
    return bytes_at(all, end_of(known->second, offset), size);
}

Bytes bytes_of(const BufferAddresses& all, const VkgemmRunAccess& x) {
    if (x.address) return bytes_at(all, x.address, x.size);
    return bytes_of(all, x.buffer, x.offset, x.size);
}

// Cuts what is open where `bytes` begin and end, so that a barrier or a write covers a piece or does not touch it.
void HazardFinder::split_at(const Bytes& bytes, bool writes_alone) {
    for (size_t i = 0; i < open_.size(); ++i) {
        if (writes_alone && !writes_of(open_[i].touch.access)) continue;
        for (const uint64_t at : {bytes.begin, bytes.end}) {
            Bytes& piece = open_[i].touch.bytes;
            if (piece.buffer != bytes.buffer || at <= piece.begin || at >= piece.end) continue;
            Open rest = open_[i];
            rest.touch.bytes.begin = at;
            piece.end = at;
            open_.push_back(std::move(rest));
        }
    }
}

// Of a barrier that covers its bytes, or whose stages alone count for it.
void HazardFinder::apply(const Barrier& b, Open& x, bool covers) {
    const VkPipelineStageFlags2 from = first_scope(b.src_stage), to = second_scope(b.dst_stage);
    if (!has_all(from, x.touch.stage) && !(x.waits & from)) return;
    x.waits |= to;
    const VkAccessFlags2 writes = writes_of(x.touch.access);
    const bool makes_available = covers && writes && has_all(with_aliases(b.src_stage), x.touch.stage) &&
                                 has_all(with_aliases_of_access(b.src_access), writes);
    if (!makes_available && !(x.available & from)) return;
    x.available |= to;
    if (covers) x.visible.push_back({with_aliases(b.dst_stage), with_aliases_of_access(b.dst_access)});
}

void HazardFinder::barrier(const Barrier& b) {
    if (b.bytes) split_at(*b.bytes);
    for (Open& x : open_) apply(b, x, !b.bytes || x.touch.bytes.meets(*b.bytes));
}

// A write after a write needs what a read needs, unless a read lies between: then the second write waits for that read,
// and only has to wait for the first write to be available, too.
bool HazardFinder::is_safe(const Open& x, const Touch& t) {
    if (!writes_of(x.touch.access)) return true;
    const VkAccessFlags2 shown = x.is_read ? t.access & ~writes_of(t.access) : t.access;
    if (!shown) return has_all(x.available, t.stage);
    return std::ranges::any_of(x.visible,
                               [&](const Scope& s) { return has_all(s.stages, t.stage) && has_all(s.access, shown); });
}

void HazardFinder::compare(const Open& x, const Touch& t) {
    const bool wrote = writes_of(x.touch.access) != 0;
    if (!x.touch.bytes.meets(t.bytes) || (!wrote && !writes_of(t.access))) return;
    auto lacks = FoundHazard::Lacks::order;
    if (has_all(x.waits, t.stage)) {
        if (is_safe(x, t)) return;
        lacks = has_all(x.available, t.stage) ? FoundHazard::Lacks::visibility : FoundHazard::Lacks::availability;
    }
    const Bytes both = {t.bytes.buffer, std::max(x.touch.bytes.begin, t.bytes.begin),
                        std::min(x.touch.bytes.end, t.bytes.end)};
    found_.push_back({.first = x.touch, .second = t, .bytes = both, .lacks = lacks});
}

// What was done to these bytes before is no longer of interest: whoever waits for `t` waits for it.
void HazardFinder::replace(const Touch& t) {
    split_at(t.bytes);
    std::erase_if(open_, [&](const Open& x) { return x.touch.bytes.meets(t.bytes); });
}

// Whether a read was read does not matter, so none is cut.
void HazardFinder::mark_read(const Touch& t) {
    split_at(t.bytes, true);
    for (Open& x : open_) x.is_read = x.is_read || x.touch.bytes.meets(t.bytes);
}

void HazardFinder::command(const std::vector<Touch>& all) {
    for (const Touch& t : all)
        for (const Open& x : open_) compare(x, t);
    for (const Touch& t : all)
        if (writes_of(t.access))
            replace(t);
        else
            mark_read(t);
    for (const Touch& t : all) open_.push_back({.touch = t});
}

VkgemmHazardKind kind_of(const FoundHazard& h) {
    if (!writes_of(h.first.access)) return VKGEMM_HAZARD_WRITE_AFTER_READ;
    return h.second.access == writes_of(h.second.access) ? VKGEMM_HAZARD_WRITE_AFTER_WRITE
                                                         : VKGEMM_HAZARD_READ_AFTER_WRITE;
}

VkgemmHazard to_hazard(const FoundHazard& h, const std::vector<std::string>& names) {
    const Touch& place = h.second.stated.buffer ? h.second : h.first;
    VkgemmHazard out = {};
    out.kind = kind_of(h);
    out.first = h.first.command;
    out.second = h.second.command;
    out.firstSlot = h.first.slot;
    out.secondSlot = h.second.slot;
    out.firstStage = h.first.stage;
    out.secondStage = h.second.stage;
    out.firstAccess = h.first.access;
    out.secondAccess = h.second.access;
    out.buffer = place.stated.buffer;
    const bool is_whole = reaches_end(h);
    out.size = is_whole ? VK_WHOLE_SIZE : h.bytes.end - h.bytes.begin;
    if (h.bytes.buffer == VK_NULL_HANDLE) out.address = h.bytes.begin;
    if (out.buffer) out.offset = place.stated.offset + (h.bytes.begin - place.begin);
    uint64_t handle = 0;  // a pointer, or a number of 64 bits
    std::memcpy(&handle, &out.buffer, sizeof(VkBuffer));
    const std::string begin = out.buffer ? concat({"buffer ", hex_text(handle), ", bytes ", out.offset})
                                         : concat({"addresses ", hex_text(out.address)}),
                      end = is_whole     ? "the end"
                            : out.buffer ? concat({out.offset + out.size})
                                         : hex_text(out.address + out.size),
                      where = concat({begin, " to ", end});
    const std::string text = concat(
        {command_text(h.second, names), " what ", command_text(h.first, names), ": ", where, "; ", lack_text(h)});
    std::memcpy(out.text, text.data(), std::min(text.size(), sizeof out.text - 1));
    return out;
}

}  // namespace vkgemm::vk
