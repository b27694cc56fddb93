// SPDX-License-Identifier: MIT
//
// vkgemm::host: a Vulkan device in a few lines, for programs that have none of their own. The tool, the tests and the
// examples stand on it; the library does not need it, and an engine that has a device should use that one instead.
//
// What a device must have (the floor):
//   - Vulkan 1.1, on the instance and on the device;
//   - a queue family with compute;
//   - push descriptors (VK_KHR_push_descriptor or Vulkan 1.4) with 7 storage buffers a stage, or bufferDeviceAddress
//     (Vulkan 1.2 or VK_KHR_buffer_device_address).
// Nothing else is asked for: no feature, no subgroup operation, no timestamp. Where timestamps are missing the host's
// clock is used, and `Times::clock` says so.
//
// VKGEMM_CAPTURE=DIR: every product that Device::submit records, one a submission, is also written to a file in DIR,
// with its operands, which `vkgemm replay` runs again anywhere. What is timed is not.
//
// The Vulkan loader is opened at run time; a program that uses this links none. An object of this header keeps what it
// stands on alive (a Buffer its device, a device its instance), so the order of destruction is free; only vkgemm::Plan
// must go before the Device whose context made it. A Device may be used from several threads; one Buffer from one
// thread at a time.
#ifndef VKGEMM_HOST_HPP
#define VKGEMM_HOST_HPP

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <vkgemm/vkgemm.hpp>

namespace vkgemm::host {

/// Functions of the Vulkan loader, so that a program can use Vulkan beside this helper without linking the loader.
/// Null when no loader was found.
PFN_vkGetInstanceProcAddr loader();

/// One physical device, as people want to see it.
struct DeviceInfo {
    uint32_t index = 0;  ///< its place in what vkEnumeratePhysicalDevices gives
    std::string name, driver;
    VkPhysicalDeviceType kind = VK_PHYSICAL_DEVICE_TYPE_OTHER;
    uint32_t apiVersion = 0;  ///< of the device
    uint32_t vendorId = 0, deviceId = 0;
    std::string unfit;  ///< why it is below the floor; empty: it is not
    std::string uses;   ///< the features that vkgemm's kernels could use there, space-separated
    uint32_t sharedBytes = 0, maxInvocations = 0, subgroupSize = 0;
    uint64_t memoryBytes = 0;  ///< of the largest device-local heap
    uint32_t timestampBits = 0;
};

const char* kindName(VkPhysicalDeviceType kind);  ///< "discrete GPU"

/// All devices that the loader knows, those below the floor too. Fails when there is no loader or no driver.
Result<std::vector<DeviceInfo>> listDevices();

/// Which of `devices` is meant: by index, or by a part of its name or of its driver's in any case ("lavapipe", "rtx",
/// also "3090": a number of three digits or more that is no index), of several the preferred one; "": of all. Discrete
/// GPUs are preferred to integrated ones, then virtual ones, then CPUs. A device below the floor is never meant. Fails
/// with a list of what there is.
Result<uint32_t> chooseDevice(std::span<const DeviceInfo> devices, std::string_view wanted);

/// One message of the validation layer: a warning or an error.
struct Message {
    bool isError = false;
    std::string id{};  ///< "VUID-vkCmdDispatch-..."; may be empty
    std::string text{};
};

enum class Validation {
    off,
    ifPresent,  ///< on where the layer is installed; Device::validated() tells
    required    ///< refuse to open without the layer
};

struct DeviceOptions {
    std::string device{};                             ///< as in chooseDevice
    Validation validation = Validation::off;          ///< with synchronisation validation
    std::function<void(const Message&)> onMessage{};  ///< called as they come, under a lock; may be empty
    std::span<const Problem> problems{};  ///< what will run: decides what is enabled; empty: whatever any kernel uses
    bool optionalFeatures = true;         ///< false: enable the required ones only
    VkgemmLogFn log = nullptr;            ///< the context's
    void* logUser = nullptr;
    const char* tunedRows = nullptr;        ///< the context's
    const char* disabledKernels = nullptr;  ///< the context's
    bool inspect = false;  ///< enable what Device::inspect wants, where the device has it; and shaderInt8, which no
                           ///< built-in kernel may want there, but a tile that one tries
};

/// What a driver tells of a compiled pipeline, all its executables together, in the driver's own words.
struct PipelineReport {
    struct Statistic {
        std::string name;
        double value = 0;
        std::string text{};  ///< of the value, all digits: one of 64 bits may be more than a double holds
    };
    struct Text {
        std::string name, text;  ///< "Assembly", or an intermediate form
    };
    std::vector<Statistic> statistics{};
    std::vector<Text> texts{};
};

enum class Memory {
    device,  ///< the device's own; filled and read through staging
    host     ///< mapped, coherent, cached where there is such
};

namespace detail {
struct DeviceState;
struct BufferState;
}  // namespace detail

/// A buffer with memory of its own. Usage: storage, transfer both ways, and device address where that is enabled.
class Buffer {
   public:
    Buffer() = default;
    VkBuffer handle() const;
    VkDeviceSize size() const;
    VkDeviceAddress address() const;      ///< 0 where bufferDeviceAddress is not enabled
    std::span<std::byte> mapped() const;  ///< Memory::host only, else empty

    /// As an operand that starts at `offset` and ends with `size` bytes, or with the buffer when size is 0. An empty
    /// operand, which a run refuses as missing, where that is not inside the buffer.
    Operand operand(VkDeviceSize offset = 0, VkDeviceSize size = 0) const;

   private:
    friend class Device;
    explicit Buffer(std::shared_ptr<detail::BufferState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::BufferState> state_;
};

enum class Clock { device, host };

struct Times {
    std::vector<double> seconds{};  ///< one for each run
    Clock clock = Clock::host;
};

using Record = std::function<Status(VkCommandBuffer)>;
using RecordRun = std::function<Status(VkCommandBuffer, uint32_t run)>;

/// An instance, a device with what vkgemm asks for, a compute queue, and a context.
class Device {
   public:
    static Result<Device> open(const DeviceOptions& options = {});

    const DeviceInfo& info() const;
    const Context& context() const;
    VkInstance instance() const;
    VkPhysicalDevice physicalDevice() const;
    VkDevice handle() const;
    VkQueue queue() const;
    uint32_t queueFamily() const;
    uint32_t apiVersion() const;  ///< what is used of the device: at most what this header was compiled with
    PFN_vkGetInstanceProcAddr getInstanceProcAddr() const;
    const VkPhysicalDeviceFeatures2& enabledFeatures() const;
    std::span<const char* const> enabledExtensions() const;
    bool hasAddresses() const;  ///< bufferDeviceAddress is enabled
    bool inspects() const;      ///< opened with DeviceOptions::inspect, and the driver has pipelineExecutableInfo

    /// Of a pipeline that was made with VKGEMM_PLAN_CAPTURE_STATISTICS. UNSUPPORTED where inspects() is false.
    Result<PipelineReport> inspect(VkPipeline pipeline) const;

    bool validated() const;                 ///< the validation layer is watching
    std::vector<Message> messages() const;  ///< all of them, since open
    size_t messageCount() const;

    Result<Buffer> createBuffer(VkDeviceSize bytes, Memory memory = Memory::device) const;

    /// Copies, in pieces where it is much, and waits. Offset and size need no alignment.
    Status upload(const Buffer& buffer, VkDeviceSize offset, std::span<const std::byte> data) const;
    Status download(const Buffer& buffer, VkDeviceSize offset, std::span<std::byte> data) const;
    /// Repeats `pattern`. Offset and size are multiples of 4.
    Status fill(const Buffer& buffer, VkDeviceSize offset, VkDeviceSize bytes, uint32_t pattern) const;

    template <class T>
    Status upload(const Buffer& buffer, const std::vector<T>& data, VkDeviceSize offset = 0) const {
        return upload(buffer, offset, std::as_bytes(std::span(data)));
    }
    template <class T>
    Status download(const Buffer& buffer, std::vector<T>& data, VkDeviceSize offset = 0) const {
        return download(buffer, offset, std::as_writable_bytes(std::span(data)));
    }

    /// Records, submits, waits. What the recording wrote is visible to the host and to later submissions. If it does
    /// not end within `timeout`, the code is DEVICE_LOST and vkResult is VK_TIMEOUT. The device still works on it then,
    /// so keep what it uses; the next submission waits for it first, for as long as its own timeout allows.
    Status submit(const Record& record, std::chrono::nanoseconds timeout = std::chrono::seconds(60)) const;

    /// Records `runs` runs into one submission, with a full barrier before each, and tells how long each took; at most
    /// 2^31 - 1. Without timestamps each run is a submission of its own, timed by the host.
    Result<Times> time(uint32_t runs, const RecordRun& record,
                       std::chrono::nanoseconds timeout = std::chrono::seconds(60)) const;

    /// The same with no barrier but those that `record` records: the seconds of all together. Runs that need not wait
    /// for one another may overlap.
    Result<double> timeTogether(uint32_t runs, const RecordRun& record,
                                std::chrono::nanoseconds timeout = std::chrono::seconds(60)) const;

   private:
    explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::DeviceState> state_;
};

struct SelfTestOptions {
    std::vector<std::string> kernels{};  ///< by name; empty: all that fit the device
    uint32_t runs = 2;                   ///< of each product
    uint64_t seed = 1;                   ///< of the operands
};

struct SelfTest {
    size_t kernels = 0, products = 0;  ///< that were tested
    std::string disabledKernels{};     ///< for DeviceOptions::disabledKernels: a row for each wrong kernel of those
    Status failure{};                  ///< of the device, where it ended the test: later kernels were not tested
};

/// Runs kernels on small products with whole and partial tiles, whose operands are small whole numbers, for which every
/// order of summation gives the same bits, and compares every element. Takes seconds, most of them the driver's
/// compiler's. Where the device fails the test ends: what was found is there, with a row for the kernel that lost the
/// device, if one did. Fails where a kernel is not known.
Result<SelfTest> selfTest(const Device& device, const SelfTestOptions& options = {});

/// A device's name as rows of disabled kernels and tuned rows can hold it: up to the first '|' or '#'.
std::string rowDevice(const std::string& name);

/// One call that VKGEMM_CAPTURE=DIR wrote to a file, with the operands as they were before it.
struct CapturedOperand {
    VkgemmSlot slot;
    std::vector<std::byte> bytes;
};
struct Capture {
    std::string version{}, device{}, driver{};  ///< where it was captured
    std::string problem{};                      ///< its line, with alpha and beta
    std::string kernel{}, tile{};               ///< of the plan
    uint32_t alignment = 16;                    ///< PlanOptions::operandAlignment
    uint64_t workspace = 0;                     ///< bytes that the plan used
    std::vector<CapturedOperand> operands{};    ///< each slot at most once, D among them
    uint64_t resultBytes = 0, resultChecksum = 0;
};

/// Reads the text of such a file. PARSE names the line, or the byte at which the data ends too early or is damaged.
Result<Capture> parseCapture(std::string_view text);

struct Replay {
    uint64_t checksum = 0;  ///< of D; the call reproduces if it equals Capture::resultChecksum
    std::string kernel{}, tile{};
    uint64_t workspace = 0;  ///< bytes that the plan used here
};

/// Runs a captured call again, with the same kernel and tile. PARSE if the operands do not have the sizes that the
/// problem asks for.
Result<Replay> replay(const Device& device, const Capture& capture);

}  // namespace vkgemm::host
#endif
