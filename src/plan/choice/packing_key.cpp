// SPDX-License-Identifier: MIT
#include "plan/choice/packing_key.h"

#include "shaders/abi.h"
#include "shaders/common/row_block.h"
#include "vkgemm/hash.hpp"

namespace vkgemm::plan {
namespace {

constexpr uint64_t version = 1;  // to be raised if a packer changes its layout

class Hash {
   public:
    void add(uint64_t value) {
        for (int i = 0; i < 64; i += 8) hash_ = hashed(hash_, value >> i & 0xff);
    }
    void add(std::string_view text) {
        for (const char c : text) add(uint64_t{static_cast<unsigned char>(c)});
        add(uint64_t{text.size()});
    }
    uint64_t value() const { return hash_; }

   private:
    uint64_t hash_ = emptyHash;
};

}  // namespace

uint64_t packing_key(const Kernel& packer, const Operand& x, const Matrix& to, uint64_t batch, const DeviceCaps& dev) {
    Hash hash;
    hash.add(version);
    hash.add(x.name());
    hash.add(packer.module.name);
    const Tile& t = packer.tile;
    for (const uint64_t value : {uint64_t{t.MM}, uint64_t{t.MN}, uint64_t{t.MK}, uint64_t{t.SG}, x.rows, x.cols, batch,
                                 uint64_t(to.type), uint64_t(to.layout), to.ld, to.batchStride})
        hash.add(value);
    if (packer.module.family.packs_fragments) {
        if (ROW_BLOCK_OF(t.BM) != PACKED_ROW_BLOCK) hash.add(uint64_t{ROW_BLOCK_OF(t.BM)});  // else keys are as before
        for (const uint32_t value : {dev.vendor, dev.device, dev.driver_version}) hash.add(uint64_t{value});
        hash.add(dev.name);
        hash.add(dev.driver);
    }
    const uint64_t key = hash.value();
    return key == VKGEMM_PACKED_NONE || key == VKGEMM_PACKED_ANY ? 1 : key;
}

}  // namespace vkgemm::plan
