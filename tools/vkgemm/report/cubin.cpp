// SPDX-License-Identifier: MIT
#include "report/cubin.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace vkgemm::tool {
namespace {

constexpr uint16_t cuda_machine = 190;
constexpr uint32_t symbol_table = 2, no_bits = 8;  // types of sections; the second has no bytes in the file

/// Sections in memory that belong to one function have its name behind one of these.
constexpr std::string_view code_of = ".text.", shared_of = ".nv.shared.", local_of = ".nv.local.";

/// The section .nv.info is a list of attributes. Each has four bytes: format, attribute, and a number of 16 bits, which
/// in this format is the size of what follows: a symbol and a value, of 32 bits each.
constexpr uint8_t sized_format = 4;
enum Attribute : uint8_t { frame_size = 0x11, least_stack_size = 0x12, register_count = 0x2f };

/// Little-endian bytes. What is outside them is nothing.
class Bytes {
   public:
    explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

    size_t size() const { return bytes_.size(); }
    template <class T>
    std::optional<T> get(uint64_t at) const {
        if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) return std::nullopt;
        uint64_t out = 0;
        for (size_t i = sizeof(T); i-- > 0;) out = out << 8 | bytes_[at + i];
        return static_cast<T>(out);
    }
    std::optional<Bytes> part(uint64_t at, uint64_t count) const {
        if (at > bytes_.size() || bytes_.size() - at < count) return std::nullopt;
        return Bytes(bytes_.subspan(at, count));
    }
    /// Up to the next zero, which must be there.
    std::optional<std::string_view> text(uint64_t at) const {
        if (at >= bytes_.size()) return std::nullopt;
        const auto rest = bytes_.subspan(at);
        const auto end = std::ranges::find(rest, uint8_t{0});
        if (end == rest.end()) return std::nullopt;
        return std::string_view(reinterpret_cast<const char*>(rest.data()), static_cast<size_t>(end - rest.begin()));
    }

   private:
    std::span<const uint8_t> bytes_;
};

struct Section {
    std::string_view name;
    uint32_t type = 0, link = 0;
    uint64_t size = 0;
    Bytes bytes{std::span<const uint8_t>()};
};

Status damaged(const std::string& what) { return {VKGEMM_ERROR_PARSE, VK_SUCCESS, "not a cubin: " + what}; }

/// One header of 64 bytes; its name is found later.
std::optional<Section> read_section(const Bytes& file, const Bytes& header, uint32_t& name) {
    Section s;
    name = *header.get<uint32_t>(0);
    s.type = *header.get<uint32_t>(4);
    s.link = *header.get<uint32_t>(40);
    s.size = *header.get<uint64_t>(32);
    if (s.type == no_bits) return s;
    const auto bytes = file.part(*header.get<uint64_t>(24), s.size);
    if (!bytes) return std::nullopt;
    s.bytes = *bytes;
    return s;
}

Result<std::vector<Section>> read_sections(const Bytes& file) {
    constexpr uint32_t magic = 0x464c457f;  // "\x7fELF"
    constexpr uint16_t is_64_little = 0x0102;
    if (file.size() < 64 || file.get<uint32_t>(0) != magic || file.get<uint16_t>(4) != is_64_little)
        return damaged("it does not begin like a 64-bit ELF file");
    if (file.get<uint16_t>(18) != cuda_machine) return damaged("it is for another kind of machine");
    const uint16_t header_bytes = *file.get<uint16_t>(58), count = *file.get<uint16_t>(60),
                   names_at = *file.get<uint16_t>(62);
    const auto headers = file.part(*file.get<uint64_t>(40), uint64_t{count} * 64);
    if (header_bytes != 64 || !headers || names_at >= count) return damaged("its table of sections is not in it");
    std::vector<Section> all;
    std::vector<uint32_t> names(count);
    for (size_t i = 0; i < count; ++i) {
        const auto section = read_section(file, *headers->part(i * 64, 64), names[i]);
        if (!section) return damaged("section " + std::to_string(i) + " is not in it");
        all.push_back(*section);
    }
    for (size_t i = 0; i < count; ++i) {
        const auto name = all[names_at].bytes.text(names[i]);
        if (!name) return damaged("section " + std::to_string(i) + " has no name");
        all[i].name = *name;
    }
    return all;
}

const Section* find(const std::vector<Section>& all, std::string_view name) {
    const auto at = std::ranges::find(all, name, &Section::name);
    return at == all.end() ? nullptr : &*at;
}

uint64_t size_of(const std::vector<Section>& all, std::string_view prefix, const std::string& function) {
    const Section* const s = find(all, std::string(prefix) + function);
    return s ? s->size : 0;
}

/// The place in `all` of the section that a symbol is in.
std::optional<uint16_t> section_of(const std::vector<Section>& all, uint32_t symbol) {
    const auto table = std::ranges::find(all, symbol_table, &Section::type);
    if (table == all.end()) return std::nullopt;
    return table->bytes.get<uint16_t>(uint64_t{symbol} * 24 + 6);
}

/// One attribute of .nv.info, where it is one of a function.
void take(const std::vector<Section>& all, uint8_t attribute, const Bytes& symbol_and_value,
          std::vector<CubinFunction>& functions) {
    const auto symbol = symbol_and_value.get<uint32_t>(0), value = symbol_and_value.get<uint32_t>(4);
    const auto place = symbol && value ? section_of(all, *symbol) : std::nullopt;
    if (!place || *place >= all.size() || !all[*place].name.starts_with(code_of)) return;
    const auto f = std::ranges::find(functions, all[*place].name.substr(code_of.size()), &CubinFunction::name);
    if (f == functions.end()) return;
    if (attribute == register_count) f->registers = *value;
    if (attribute == frame_size || attribute == least_stack_size) f->local = std::max<uint64_t>(f->local, *value);
}

}  // namespace

Result<std::vector<CubinFunction>> read_cubin(std::span<const uint8_t> cubin) {
    const auto sections = read_sections(Bytes(cubin));
    if (!sections) return sections.status();
    std::vector<CubinFunction> functions;
    for (const Section& s : *sections)
        if (s.name.starts_with(code_of))
            functions.push_back({.name = std::string(s.name.substr(code_of.size())), .code = s.size});
    const Section* const info = find(*sections, ".nv.info");
    if (!info) return damaged("it has no .nv.info");
    for (uint64_t at = 0; at < info->size;) {
        const auto format = info->bytes.get<uint8_t>(at), attribute = info->bytes.get<uint8_t>(at + 1);
        const auto number = info->bytes.get<uint16_t>(at + 2);
        const bool sized = format == sized_format;
        const auto value = info->bytes.part(at + 4, sized && number ? *number : 0);
        if (!format || !attribute || !number || !value) return damaged("its .nv.info ends within an attribute");
        if (sized) take(*sections, *attribute, *value, functions);
        at += 4 + value->size();
    }
    for (CubinFunction& f : functions) {
        if (f.registers == 0) return damaged(f.name + " has no count of registers");
        f.shared = size_of(*sections, shared_of, f.name);
        f.local += size_of(*sections, local_of, f.name);
    }
    return functions;
}

}  // namespace vkgemm::tool
