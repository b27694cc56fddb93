// SPDX-License-Identifier: MIT
//
// vkgemm::host opens a Vulkan device in a few lines, for programs that have none. Link vkgemm::host (CMake). The tool,
// the tests and the examples use it; an engine uses its own device instead.
//
// Minimum requirements:
//   - Vulkan 1.1, on the instance and on the device;
//   - a queue family with compute;
//   - push descriptors (VK_KHR_push_descriptor or Vulkan 1.4) with 7 storage buffers per stage, or bufferDeviceAddress
//     (Vulkan 1.2 or VK_KHR_buffer_device_address).
// Nothing else is required. On a device without timestamps, times are measured with the host's clock (Times::clock).
//
// VKGEMM_CAPTURE=DIR in the environment: if a submission through Device::submit records exactly one run of a plan, its
// operands are written to a file in DIR for 'vkgemm replay'. Timed runs are not captured. For another VkDevice,
// vkgemmDescribeRun (debug.h) writes the same format.
//
// The Vulkan loader is opened at run time, so a program need not link it. Devices and Buffers may be destroyed in any
// order: a Buffer keeps its Device alive. Destroy every vkgemm::Plan before the Device whose context created it.
// Several threads may use one Device at the same time; only one thread at a time may use a Buffer.
//
// Drivers raise floating-point exceptions. No function here traps because of them, or leaves a flag of them on the
// calling thread. What a Record or RecordRun of yours raises is yours.
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

/// The Vulkan loader's vkGetInstanceProcAddr, for programs that call Vulkan themselves without linking the loader. Null
/// if no loader was found.
PFN_vkGetInstanceProcAddr loader();

/// Describes one physical device.
struct DeviceInfo {
    uint32_t index = 0;  ///< in the order of vkEnumeratePhysicalDevices
    std::string name, driver;
    VkPhysicalDeviceType kind = VK_PHYSICAL_DEVICE_TYPE_OTHER;
    uint32_t apiVersion = 0;  ///< that the device supports
    uint32_t vendorId = 0, deviceId = 0;
    std::string unfit;  ///< why it does not meet the minimum requirements; "" if it does
    std::string uses;   ///< the features of the device that vkgemm's kernels can use, space-separated
    uint32_t sharedBytes = 0, maxInvocations = 0, subgroupSize = 0;
    uint64_t memoryBytes = 0;  ///< of the largest device-local heap
    uint32_t timestampBits = 0;
};

const char* kindName(VkPhysicalDeviceType kind);  ///< "discrete GPU"

/// All devices, including those below the minimum requirements. Fails if there is no loader or no driver.
Result<std::vector<DeviceInfo>> listDevices();

/// Selects a device. `wanted` is an index, or a part of the device's or driver's name in any case ("lavapipe", "rtx").
/// A number of three or more digits that is not an index is part of a name ("3090"). "" matches all devices. If several
/// match, the preferred order is discrete GPU, integrated GPU, virtual GPU, CPU. Devices below the minimum requirements
/// are never selected. On failure the error lists the devices.
Result<uint32_t> chooseDevice(std::span<const DeviceInfo> devices, std::string_view wanted);

/// One message of the validation layer: a warning or an error.
struct Message {
    bool isError = false;
    std::string id{};  ///< "VUID-vkCmdDispatch-..."; may be empty
    std::string text{};
};

enum class Validation {
    off,
    ifPresent,  ///< on if the layer is installed; see Device::validated()
    required    ///< refuse to open without the layer
};

struct DeviceOptions {
    std::string device{};  ///< as in chooseDevice
    /// Called instead of chooseDevice to select the index of the device; may be empty.
    std::function<Result<uint32_t>(std::span<const DeviceInfo>)> choose{};
    Validation validation = Validation::off;          ///< with synchronisation validation
    std::function<void(const Message&)> onMessage{};  ///< called for each message, under a lock; may be empty
    std::span<const Problem> problems{};  ///< features are enabled for these problems; empty: for all kernels
    bool optionalFeatures = true;         ///< false: enable only the required features
    VkgemmLogFn log = nullptr;            ///< VkgemmContextInfo::log
    void* logUser = nullptr;
    const char* tunedRows = nullptr;        ///< VkgemmContextInfo::tunedRows
    const char* disabledKernels = nullptr;  ///< VkgemmContextInfo::disabledKernels
    /// VkgemmContextInfo::nativeKernels. If they may be used, VK_NVX_binary_import is enabled.
    VkgemmNativeKernels nativeKernels = VKGEMM_NATIVE_VERIFIED;
    bool inspect = false;  ///< if available, enable what Device::inspect needs, and shaderInt8, which a tile that is
                           ///< tried out may need
    bool transferQueues = false;  ///< create the queues of Device::transferQueues
    /// Called with the selected device. If it returns a failure, open fails with it. May be empty.
    std::function<Status(const DeviceInfo&)> accepts{};
    /// If set, pipelines are compiled through a VkPipelineCache with this initial data. Return nothing, or undamaged
    /// Device::pipelineCacheData of the same device and driver: not every driver checks the data.
    std::function<std::vector<std::byte>(const DeviceInfo&)> pipelineCache{};
};

/// Statistics and texts that the driver reports for all executables of a pipeline.
struct PipelineReport {
    struct Statistic {
        std::string name;
        double value = 0;
        std::string text{};  ///< the value with all digits, because a double cannot hold every 64-bit value
    };
    struct Text {
        std::string name, text;  ///< name: "Assembly", or an intermediate representation
    };
    std::vector<Statistic> statistics{};
    std::vector<Text> texts{};
};

enum class Memory {
    device,  ///< device-local; filled and read through a staging buffer
    host     ///< mapped and coherent; cached if possible
};

namespace detail {
struct DeviceState;
struct BufferState;
}  // namespace detail

/// A buffer with its own memory. Usage: storage, indirect arguments, transfer source and destination, and, if
/// bufferDeviceAddress is enabled, device address.
class Buffer {
   public:
    Buffer() = default;
    VkBuffer handle() const;
    VkDeviceSize size() const;
    VkDeviceAddress address() const;      ///< 0 if bufferDeviceAddress is not enabled
    std::span<std::byte> mapped() const;  ///< empty unless the memory is Memory::host

    /// An operand of `size` bytes from `offset` on; size 0: up to the end of the buffer. If the range is not inside the
    /// buffer, the operand is empty, and a run is refused because it is missing.
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

/// An instance, a device with the features that vkgemm needs, a compute queue, and a context.
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
    VkQueueFlags queueFlags() const;  ///< of queueFamily()
    /// With DeviceOptions::transferQueues: up to two queues of a transfer-only family, if the device has one. They run
    /// in parallel with queue(). Buffers of this device may be used on all of these queues.
    std::span<const VkQueue> transferQueues() const;
    uint32_t transferFamily() const;
    uint32_t apiVersion() const;  ///< that is used: the device's, at most that of the Vulkan headers at compile time
    PFN_vkGetInstanceProcAddr getInstanceProcAddr() const;
    const VkPhysicalDeviceFeatures2& enabledFeatures() const;
    std::span<const char* const> enabledExtensions() const;
    bool hasAddresses() const;  ///< bufferDeviceAddress is enabled
    /// Bytes of the largest device-local heap that this process may still allocate according to VK_EXT_memory_budget,
    /// with the memory of other processes taken into account. UINT64_MAX if the driver lacks that extension. Queries
    /// the driver on each call.
    uint64_t memoryLeft() const;
    bool inspects() const;  ///< DeviceOptions::inspect was set, and the driver has pipelineExecutableInfo

    /// Reports on a pipeline of a plan with VKGEMM_PLAN_CAPTURE_STATISTICS. UNSUPPORTED if inspects() is false.
    Result<PipelineReport> inspect(VkPipeline pipeline) const;

    /// The data to return from DeviceOptions::pipelineCache in a later process. UNSUPPORTED if that option was empty.
    Result<std::vector<std::byte>> pipelineCacheData() const;

    bool validated() const;                 ///< the validation layer is enabled
    std::vector<Message> messages() const;  ///< all validation messages since open
    size_t messageCount() const;

    Result<Buffer> createBuffer(VkDeviceSize bytes, Memory memory = Memory::device) const;

    /// Copy through a staging buffer and wait. Offset and size need no alignment.
    Status upload(const Buffer& buffer, VkDeviceSize offset, std::span<const std::byte> data) const;
    Status download(const Buffer& buffer, VkDeviceSize offset, std::span<std::byte> data) const;
    /// Fills a range with `pattern` and waits. Offset and size are multiples of 4.
    Status fill(const Buffer& buffer, VkDeviceSize offset, VkDeviceSize bytes, uint32_t pattern) const;

    template <class T>
    Status upload(const Buffer& buffer, const std::vector<T>& data, VkDeviceSize offset = 0) const {
        return upload(buffer, offset, std::as_bytes(std::span(data)));
    }
    template <class T>
    Status download(const Buffer& buffer, std::vector<T>& data, VkDeviceSize offset = 0) const {
        return download(buffer, offset, std::as_writable_bytes(std::span(data)));
    }

    /// Records, submits, and waits. Afterwards the results are visible to the host and to later submissions. If the
    /// work does not complete within `timeout`, the code is DEVICE_LOST and vkResult is VK_TIMEOUT. The device is then
    /// still working, so keep its resources alive; the next submission first waits for this one, within its own
    /// timeout.
    Status submit(const Record& record, std::chrono::nanoseconds timeout = std::chrono::seconds(60)) const;

    /// Times `runs` runs (at most 2^31 - 1) in one submission, with a full barrier before each run, and returns the
    /// time of each. Without timestamps, each run is its own submission and is timed by the host.
    Result<Times> time(uint32_t runs, const RecordRun& record,
                       std::chrono::nanoseconds timeout = std::chrono::seconds(60)) const;

    /// Times all runs together, in seconds, with only the barriers that `record` records. Runs without a barrier
    /// between them may overlap.
    Result<double> timeTogether(uint32_t runs, const RecordRun& record,
                                std::chrono::nanoseconds timeout = std::chrono::seconds(60)) const;

   private:
    explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::DeviceState> state_;
};

struct SelfTestOptions {
    std::vector<std::string> kernels{};  ///< names; empty: every kernel that fits the device
    uint32_t runs = 2;                   ///< runs of each product
    uint64_t seed = 1;                   ///< seed of the operands
};

struct SelfTest {
    size_t kernels = 0, products = 0;  ///< how many were tested; a kernel counts if one of its products was tested
    std::string disabledKernels{};     ///< for DeviceOptions::disabledKernels: one row for each wrong kernel
    Status failure{};                  ///< the failure of the device that ended the test early, if there was one
};

/// Runs kernels on small products with whole and partial tiles, and compares every element. Operands are small whole
/// numbers, for which every order of summation gives the same bits. Takes seconds, most of which the driver's compiler
/// needs. If the device fails, the test ends: the result has what was found so far, and a row for the kernel that lost
/// the device. Fails if a name of options.kernels is unknown.
Result<SelfTest> selfTest(const Device& device, const SelfTestOptions& options = {});

/// Self-test of the native kernels only (VkgemmNativeKernels), for drivers on which they were not verified. It opens a
/// separate device with these options and closes it afterwards, because the device may be lost. If `kernels` is above 0
/// and there is no `failure`, open your device with VKGEMM_NATIVE_ANY_DRIVER and the resulting disabledKernels. The
/// result stays valid for the same device and driver. If no native kernel fits the device, `kernels` is 0 and `failure`
/// has the reason for the first of them. `vkgemm check --native` runs this test.
Result<SelfTest> testNativeKernels(DeviceOptions options, const SelfTestOptions& test = {});

/// The part of a device's name that rows of disabled kernels and tuned rows can hold: up to the first '|' or '#'.
std::string rowDevice(const std::string& name);

/// A run that VKGEMM_CAPTURE=DIR or vkgemmDescribeRun wrote to a file.
struct CapturedOperand {
    VkgemmSlot slot;
    std::vector<std::byte> bytes;
};
struct Capture {
    std::string version{}, device{}, driver{};  ///< where it was captured
    std::string problem{};                      ///< its text, with the run's sizes, alpha and beta
    std::string kernel{}, tile{};               ///< of the run
    bool addresses = false;                     ///< how operands reached the shader; false: by descriptors
    uint32_t alignment = 16;                    ///< PlanOptions::operandAlignment
    uint64_t workspace = 0;                     ///< bytes that the run used
    bool hasData = false;                       ///< false: the text of a run without its operands
    std::vector<CapturedOperand> operands{};    ///< each slot at most once, D among them; what they held before the run
    uint64_t resultBytes = 0;                   ///< of D
    bool hasResult = false;                     ///< false: D after the run is not known
    uint64_t resultChecksum = 0;
};

/// Parses the contents of such a file. PARSE names the line, or the byte at which the data is truncated or damaged.
Result<Capture> parseCapture(std::string_view text);

struct Replay {
    uint64_t checksum = 0;  ///< of D; equal to Capture::resultChecksum if the run gave the same bits
    std::string kernel{}, tile{};
    uint64_t workspace = 0;  ///< bytes that the plan used here
};

/// Repeats a captured run with the same kernel, tile and kind of operands. An operand that the run did not read holds
/// zeros. PARSE if an operand does not have the size that the problem requires, or if the capture has no data.
Result<Replay> replay(const Device& device, const Capture& capture);

}  // namespace vkgemm::host
#endif
