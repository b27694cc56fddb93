// SPDX-License-Identifier: MIT
//
// vkgemm::host opens a Vulkan device in a few lines, for programs that have none. The tool, the tests and the examples
// use it. The library does not need it; an engine uses its own device instead.
//
// Minimum requirements:
//   - Vulkan 1.1, on the instance and on the device;
//   - a queue family with compute;
//   - push descriptors (VK_KHR_push_descriptor or Vulkan 1.4) with 7 storage buffers a stage, or bufferDeviceAddress
//     (Vulkan 1.2 or VK_KHR_buffer_device_address).
// No feature, subgroup operation or timestamp is required. Without timestamps, times are measured with the host's clock
// (Times::clock).
//
// VKGEMM_CAPTURE=DIR: Device::submit writes the operands of a submission that records exactly one product to a file in
// DIR, for 'vkgemm replay'. Timed runs are not captured.
//
// The Vulkan loader is opened at run time; a program does not link it. A Buffer keeps its Device alive, and a Device
// its instance, so they may be destroyed in any order. Destroy each vkgemm::Plan before the Device whose context
// created it. Several threads may use one Device; one thread at a time may use a Buffer.
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
/// Null if no loader was found.
PFN_vkGetInstanceProcAddr loader();

/// Describes one physical device.
struct DeviceInfo {
    uint32_t index = 0;  ///< in the list of vkEnumeratePhysicalDevices
    std::string name, driver;
    VkPhysicalDeviceType kind = VK_PHYSICAL_DEVICE_TYPE_OTHER;
    uint32_t apiVersion = 0;  ///< of the device
    uint32_t vendorId = 0, deviceId = 0;
    std::string unfit;  ///< why it does not meet the minimum requirements; "" if it does
    std::string uses;   ///< the features that vkgemm's kernels could use there, space-separated
    uint32_t sharedBytes = 0, maxInvocations = 0, subgroupSize = 0;
    uint64_t memoryBytes = 0;  ///< of the largest device-local heap
    uint32_t timestampBits = 0;
};

const char* kindName(VkPhysicalDeviceType kind);  ///< "discrete GPU"

/// All devices of the loader, including those below the minimum requirements. Fails without a loader or a driver.
Result<std::vector<DeviceInfo>> listDevices();

/// Selects a device by its index or by a part of its name or of its driver's name, ignoring case ("lavapipe", "rtx"). A
/// number of three or more digits that is not an index is part of a name ("3090"). "" selects from all devices. If
/// several match, the order is discrete GPU, integrated GPU, virtual GPU, CPU. Devices below the minimum requirements
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
    /// If not empty, it is asked for the index of the device instead of chooseDevice.
    std::function<Result<uint32_t>(std::span<const DeviceInfo>)> choose{};
    Validation validation = Validation::off;          ///< with synchronisation validation
    std::function<void(const Message&)> onMessage{};  ///< called as they come, under a lock; may be empty
    std::span<const Problem> problems{};  ///< what will run, for which features are enabled; empty: for all kernels
    bool optionalFeatures = true;         ///< false: enable the required ones only
    VkgemmLogFn log = nullptr;            ///< the context's
    void* logUser = nullptr;
    const char* tunedRows = nullptr;        ///< the context's
    const char* disabledKernels = nullptr;  ///< the context's
    /// The context's. VK_NVX_binary_import is enabled where they may be used.
    VkgemmNativeKernels nativeKernels = VKGEMM_NATIVE_VERIFIED;
    bool inspect = false;  ///< enable what Device::inspect needs, if the device has it; and shaderInt8, which built-in
                           ///< kernels may not need there, but a tile that is tried out may
    bool transferQueues = false;  ///< ask for Device::transferQueues
    /// Asked about the device that was chosen; what it returns is what open fails with. May be empty.
    std::function<Status(const DeviceInfo&)> accepts{};
    /// If not empty, pipelines are compiled through a VkPipelineCache that begins with what this returns: nothing, or
    /// Device::pipelineCacheData of the same device and driver, undamaged, for not every driver checks that.
    std::function<std::vector<std::byte>(const DeviceInfo&)> pipelineCache{};
};

/// Statistics and texts of a compiled pipeline, all executables together, as the driver names them.
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
    device,  ///< device-local; filled and read through a staging buffer
    host     ///< mapped and coherent; cached if such memory exists
};

namespace detail {
struct DeviceState;
struct BufferState;
}  // namespace detail

/// A buffer with memory of its own. Usage: storage, transfer both ways, and device address if that is enabled.
class Buffer {
   public:
    Buffer() = default;
    VkBuffer handle() const;
    VkDeviceSize size() const;
    VkDeviceAddress address() const;      ///< 0 if bufferDeviceAddress is not enabled
    std::span<std::byte> mapped() const;  ///< Memory::host only, else empty

    /// As an operand of `size` bytes from `offset` on; size 0: up to the end of the buffer. If that is not inside the
    /// buffer, the operand is empty, and a run refuses it as missing.
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
    VkQueueFlags queueFlags() const;  ///< of that family
    /// With DeviceOptions::transferQueues: up to two queues of a family that only copies, if the device has one. They
    /// work beside queue(), and buffers of this device may be used on all of them.
    std::span<const VkQueue> transferQueues() const;
    uint32_t transferFamily() const;
    uint32_t apiVersion() const;  ///< what is used of the device: at most what this header was compiled with
    PFN_vkGetInstanceProcAddr getInstanceProcAddr() const;
    const VkPhysicalDeviceFeatures2& enabledFeatures() const;
    std::span<const char* const> enabledExtensions() const;
    bool hasAddresses() const;  ///< bufferDeviceAddress is enabled
    /// Bytes of the largest device-local heap that this process may still allocate by VK_EXT_memory_budget, which other
    /// processes' memory lowers; UINT64_MAX if the driver does not have that extension. Asks the driver each time.
    uint64_t memoryLeft() const;
    bool inspects() const;  ///< opened with DeviceOptions::inspect, and the driver has pipelineExecutableInfo

    /// Of a pipeline that was created with VKGEMM_PLAN_CAPTURE_STATISTICS. UNSUPPORTED if inspects() is false.
    Result<PipelineReport> inspect(VkPipeline pipeline) const;

    /// What DeviceOptions::pipelineCache returns in a later process. UNSUPPORTED if that was empty.
    Result<std::vector<std::byte>> pipelineCacheData() const;

    bool validated() const;                 ///< the validation layer is enabled
    std::vector<Message> messages() const;  ///< all of them, since open
    size_t messageCount() const;

    Result<Buffer> createBuffer(VkDeviceSize bytes, Memory memory = Memory::device) const;

    /// Copies through a staging buffer and waits. Offset and size need no alignment.
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

    /// Records `runs` runs (at most 2^31 - 1) into one submission, with a full barrier before each, and returns the
    /// time of each. Without timestamps each run is a submission of its own, timed by the host.
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

/// The problem nearest to `like` that a kernel can compute, which is given by its index in kernels(): of its types and
/// accuracy; of as few rows or columns as its tile has, if it takes few only; in a layout that it reads; of whole
/// blocks. If the kernel takes mixed types, A is f16, and B keeps a block format; otherwise B is f32, or q8_0 if the
/// kernel takes blocks only. Batch, strides and epilogue stay as they are. A device's limits are not checked.
Problem problemFor(uint32_t kernel, Problem like);

struct SelfTestOptions {
    std::vector<std::string> kernels{};  ///< by name; empty: all that fit the device
    uint32_t runs = 2;                   ///< of each product
    uint64_t seed = 1;                   ///< of the operands
};

struct SelfTest {
    size_t kernels = 0, products = 0;  ///< that were tested: a kernel with at least one of the products
    std::string disabledKernels{};     ///< for DeviceOptions::disabledKernels: a row for each wrong kernel of those
    Status failure{};                  ///< of the device, if it ended the test: later kernels were not tested
};

/// Runs kernels on small products with whole and partial tiles, whose operands are small whole numbers, for which every
/// order of summation gives the same bits, and compares every element. Takes seconds, most of them the driver's
/// compiler's. Where the device fails the test ends: what was found is there, with a row for the kernel that lost the
/// device, if one did. Fails where a kernel is not known.
Result<SelfTest> selfTest(const Device& device, const SelfTestOptions& options = {});

/// The same of native kernels alone (VkgemmNativeKernels), in a device of its own that is opened with these options and
/// closed afterwards, for it may be lost: whether they can be used on a driver on which they were not verified. If all
/// is well (`kernels` above 0, no failure), open a device with VKGEMM_NATIVE_ANY_DRIVER and these disabledKernels; both
/// may be kept for the next run on the same device and driver. If the device has no native kernel, `kernels` is 0 and
/// `failure` is why it does not have the first of them. `vkgemm check --native` is this test.
Result<SelfTest> testNativeKernels(DeviceOptions options, const SelfTestOptions& test = {});

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
