// SPDX-License-Identifier: MIT
// BLACS's broadcasts of matrices, by which ScaLAPACK's PBLAS hands round what it multiplies. MPI copies a matrix
// between two processes of a machine on one thread. With VKGEMM_BLAS_BROADCAST=direct a receiver reads it from the
// sender's memory on all threads that pack operands. The processes agree on that in each broadcast, by BLACS's own
// functions, and leave it to BLACS where one of them cannot.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <functional>

#include "blas/export.h"
#include "blas/next_library.h"
#include "blas/other_process.h"
#include "blas/state.h"

namespace vkgemm::blas {
namespace {

using Send = void(int context, const char* scope, const char* top, int m, int n, void* a, int lda);
using Receive = void(int context, const char* scope, const char* top, int m, int n, void* a, int lda, int row,
                     int column);
/// The least absolute value of each element, in all processes if row is -1.
using Least = void(int context, const char* scope, const char* top, int m, int n, int* a, int lda, int* rows,
                   int* columns, int ld, int row, int column);

constinit NextSymbol send_ints("Cigebs2d"), receive_ints("Cigebr2d"), least_ints("Cigamn2d");

constexpr uint64_t least_direct = 4u << 20;  // bytes; less than this MPI copies as soon

/// Of what the setting and the arguments say, which are alike in the sender and the receivers.
bool is_direct(int m, int n, uint64_t element) {
    return settings().direct_broadcast && m > 0 && n > 0 &&
           static_cast<uint64_t>(m) * static_cast<uint64_t>(n) * element >= least_direct && send_ints.exists() &&
           receive_ints.exists() && least_ints.exists();
}

/// Processes in which it is equal, and not 0, know each other by the same numbers.
uint64_t find_machine() {
    struct stat space {};
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    if (boot.empty() || stat("/proc/self/ns/pid", &space) != 0) return 0;
    return std::hash<std::string>()(boot + ' ' + std::to_string(space.st_ino)) | 1;
}

/// What the sender tells.
struct Offer {
    uint64_t machine = 0, address = 0, ld = 0, process = 0;  // ld: bytes
};
using Ints = std::array<int, sizeof(Offer) / sizeof(int)>;

uint64_t machine() {
    static const uint64_t found = find_machine();
    return found;
}

Columns columns_of(void* a, int m, int lda, uint64_t element) {
    const auto bytes = [&](int x) { return static_cast<uint64_t>(x) * element; };
    return {static_cast<std::byte*>(a), bytes(m), bytes(std::max(m, lda))};
}

bool read(const Offer& offer, Columns to, int64_t count) {
    if (offer.machine == 0 || offer.machine != machine()) return false;
    const int process = static_cast<int>(offer.process);
    Columns from{std::bit_cast<std::byte*>(static_cast<uintptr_t>(offer.address)), to.rows, offer.ld};
    const uint64_t bytes = to.rows * static_cast<uint64_t>(count);
    if (from.ld == from.rows && to.ld == to.rows) {  // nothing between the columns: others of 1 MiB, and a rest
        constexpr uint64_t piece = 1u << 20;
        const int64_t pieces = static_cast<int64_t>(bytes / piece);
        const auto rest_of = [&](const Columns& c) {
            const uint64_t done = static_cast<uint64_t>(pieces) * piece;
            return Columns{c.address + done, bytes - done, bytes - done};
        };
        if (bytes % piece != 0 && !read_columns(process, rest_of(from), rest_of(to), 0, 1)) return false;
        from.rows = from.ld = to.rows = to.ld = piece;
        count = pieces;
    }
    std::atomic<bool> done = true;
    const Workers::Work work = [&](int64_t begin, int64_t end) {
        if (!read_columns(process, from, to, begin, end)) done = false;
    };
    const HoldExceptions held;
    const LockedEngine locked = device_count() > 0 ? lock_engine({}) : LockedEngine{};
    if (locked.engine())
        locked.engine()->workers().run(count, bytes, work);
    else
        work(0, count);
    return done;
}

/// Whether all processes of the scope say so.
bool all_say(bool yes, int context, const char* scope) {
    int least = yes ? 1 : 0;
    least_ints.get<Least>()(context, scope, " ", 1, 1, &least, 1, nullptr, nullptr, -1, -1, -1);
    return least == 1;
}

void send(NextSymbol& next, uint64_t element, int context, const char* scope, const char* top, int m, int n, void* a,
          int lda) {
    if (notes_memory()) note_read(place_of(a, m, n, std::max(m, lda), element));
    if (is_direct(m, n, element)) {
        const Columns columns = columns_of(a, m, lda, element);
        auto ints = std::bit_cast<Ints>(Offer{.machine = machine(),
                                              .address = std::bit_cast<uintptr_t>(a),
                                              .ld = columns.ld,
                                              .process = static_cast<uint64_t>(getpid())});
        const int count = static_cast<int>(ints.size());
        send_ints.get<Send>()(context, scope, " ", count, 1, ints.data(), count);
        if (all_say(true, context, scope)) return;
    }
    static_cast<void>(next.exists());  // finds it without a word in the summary, which names the CPU BLAS
    next.get<Send>()(context, scope, top, m, n, a, lda);
}

void receive(NextSymbol& next, uint64_t element, int context, const char* scope, const char* top, int m, int n, void* a,
             int lda, int row, int column) {
    if (notes_memory()) note_write(place_of(a, m, n, std::max(m, lda), element));
    if (is_direct(m, n, element)) {
        Ints ints{};
        const int count = static_cast<int>(ints.size());
        receive_ints.get<Receive>()(context, scope, " ", count, 1, ints.data(), count, row, column);
        bool copied = false;
        try {
            copied = read(std::bit_cast<Offer>(ints), columns_of(a, m, lda, element), n);
        } catch (...) {  // no memory for threads
        }
        if (all_say(copied, context, scope)) return void(++counts().broadcasts);
    }
    static_cast<void>(next.exists());
    next.get<Receive>()(context, scope, top, m, n, a, lda, row, column);
}

}  // namespace
}  // namespace vkgemm::blas

#define BROADCAST(letter, element)                                                                                   \
    EXPORT void C##letter##gebs2d(int context, const char* scope, const char* top, int m, int n, void* a, int lda) { \
        static constinit vkgemm::blas::NextSymbol next("C" #letter "gebs2d");                                        \
        vkgemm::blas::send(next, element, context, scope, top, m, n, a, lda);                                        \
    }                                                                                                                \
    EXPORT void C##letter##gebr2d(int context, const char* scope, const char* top, int m, int n, void* a, int lda,   \
                                  int row, int column) {                                                             \
        static constinit vkgemm::blas::NextSymbol next("C" #letter "gebr2d");                                        \
        vkgemm::blas::receive(next, element, context, scope, top, m, n, a, lda, row, column);                        \
    }
BROADCAST(s, 4)
BROADCAST(d, 8)
BROADCAST(c, 8)
BROADCAST(z, 16)
