// SPDX-License-Identifier: MIT
// The functions of the C library and of libdrm that a preloaded library replaces, so that ANV finds one GPU that is
// not there. Everything that is not about it goes on to the real functions. With VKGEMM_INTEL_TRACE set, requests that
// are refused are printed.
#include <dlfcn.h>
#include <drm/drm.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kernel.h"

using vkgemm::test::intel::answer;
using vkgemm::test::intel::chosen_gpu;

namespace {

constexpr char path_of_gpu[] = "/dev/dri/renderD128";
constexpr off_t file_bytes = off_t{1} << 42;  // of a sparse file: the memory of all buffers
constexpr int render_node = 2, pci_bus = 0;

// As libdrm's callers see it (xf86drm.h).
struct PciPlace {
    uint16_t domain;
    uint8_t bus, device, function;
};
struct PciDevice {
    uint16_t vendor, device, subvendor, subdevice;
    uint8_t revision;
};
struct DrmDevice {
    char** nodes;
    int available_nodes, bus;
    PciPlace* place;
    PciDevice* pci;
};

template <class F>
F* next(const char* name) {
    return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

int memory_file() {
    static const int fd = [] {
        const int file = memfd_create("gpu", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, file_bytes) != 0) abort();
        return file;
    }();
    return fd;
}

bool is_gpu(const char* path) { return path && strcmp(path, path_of_gpu) == 0; }

int real_fstat(int fd, struct stat64* out) {
    static auto* const real = next<int(int, struct stat64*)>("fstat64");
    return real(fd, out);
}
// Every copy of the file's descriptor counts.
bool is_gpu(int fd) {
    struct stat64 here, ours;
    return real_fstat(fd, &here) == 0 && S_ISREG(here.st_mode) && real_fstat(memory_file(), &ours) == 0 &&
           here.st_ino == ours.st_ino && here.st_dev == ours.st_dev;
}

int describe(struct stat64* out) {
    *out = {};
    out->st_mode = S_IFCHR | 0666;
    out->st_rdev = makedev(226, 128);
    return 0;
}

DrmDevice* gpu() {
    static char path[sizeof path_of_gpu], none[] = "";
    static char* nodes[] = {none, none, path};
    static PciPlace place{.domain = 0, .bus = 3, .device = 0, .function = 0};
    static PciDevice pci{.vendor = 0x8086,
                         .device = chosen_gpu().pci_device,
                         .subvendor = 0x8086,
                         .subdevice = 0,
                         .revision = static_cast<uint8_t>(chosen_gpu().revision)};
    static DrmDevice device{
        .nodes = nodes, .available_nodes = 1 << render_node, .bus = pci_bus, .place = &place, .pci = &pci};
    memcpy(path, path_of_gpu, sizeof path);
    return &device;
}

}  // namespace

extern "C" {

int open64(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (is_gpu(path)) return fcntl(memory_file(), F_DUPFD_CLOEXEC, 0);
    static auto* const real = next<int(const char*, int, ...)>("open64");
    return real(path, flags, mode);
}

int stat64(const char* path, struct stat64* out) noexcept {
    static auto* const real = next<int(const char*, struct stat64*)>("stat64");
    return is_gpu(path) ? describe(out) : real(path, out);
}

int fstat64(int fd, struct stat64* out) noexcept { return is_gpu(fd) ? describe(out) : real_fstat(fd, out); }

int ioctl(int fd, unsigned long request, ...) noexcept {
    va_list more;
    va_start(more, request);
    void* data = va_arg(more, void*);
    va_end(more);
    if (!is_gpu(fd)) {
        static auto* const real = next<int(int, unsigned long, ...)>("ioctl");
        return real(fd, request, data);
    }
    const int error = answer(request, data);
    if (error && getenv("VKGEMM_INTEL_TRACE")) fprintf(stderr, "ioctl 0x%lx: %s\n", request, strerror(error));
    errno = error;
    return error ? -1 : 0;
}

int drmGetDevices2(uint32_t, DrmDevice** out, int room) {
    if (out && room > 0) out[0] = gpu();
    return 1;
}
int drmGetDevice2(int, uint32_t, DrmDevice** out) {
    *out = gpu();
    return 0;
}
void drmFreeDevice(DrmDevice**) {}
void drmFreeDevices(DrmDevice**, int) {}
}
