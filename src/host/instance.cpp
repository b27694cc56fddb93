// SPDX-License-Identifier: MIT
// The loader, the instance, and the validation layer's messages.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "host/state.h"

namespace vkgemm::host {
namespace detail {
namespace {

constexpr const char* no_driver =
    "the Vulkan loader found no driver; install your GPU's, or Mesa's, which can also compute on the CPU; if "
    "VK_DRIVER_FILES is set, check the files that it names";

VKAPI_ATTR VkBool32 VKAPI_CALL keep_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                            VkDebugUtilsMessageTypeFlagsEXT,
                                            const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
    auto& log = *static_cast<MessageLog*>(user);
    const std::lock_guard lock(log.mutex);
    log.messages.push_back({.isError = severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                            .id = data->pMessageIdName ? data->pMessageIdName : "",
                            .text = data->pMessage ? data->pMessage : ""});
    if (log.on_message) log.on_message(log.messages.back());
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(MessageLog& log) {
    VkDebugUtilsMessengerCreateInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    info.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    info.pfnUserCallback = keep_message;
    info.pUserData = &log;
    return info;
}

struct LoaderCalls {
    PFN_vkEnumerateInstanceVersion version;
    PFN_vkEnumerateInstanceLayerProperties layers;
    PFN_vkEnumerateInstanceExtensionProperties extensions;
    PFN_vkCreateInstance create;
};

template <class F>
F find(PFN_vkGetInstanceProcAddr get, const char* name) {
    return reinterpret_cast<F>(get(VK_NULL_HANDLE, name));
}

Result<bool> has_layer(const LoaderCalls& calls, const char* name) {
    constexpr const char* call = "vkEnumerateInstanceLayerProperties";
    uint32_t count = 0;
    if (const VkResult r = calls.layers(&count, nullptr); r < VK_SUCCESS) return failed(r, call);
    std::vector<VkLayerProperties> all(count);
    if (const VkResult r = calls.layers(&count, all.data()); r < VK_SUCCESS) return failed(r, call);
    return std::ranges::any_of(all, [&](const VkLayerProperties& p) { return std::strcmp(p.layerName, name) == 0; });
}

Result<bool> has_instance_extension(const LoaderCalls& calls, const char* layer, const char* name) {
    constexpr const char* call = "vkEnumerateInstanceExtensionProperties";
    uint32_t count = 0;
    if (const VkResult r = calls.extensions(layer, &count, nullptr); r < VK_SUCCESS) return failed(r, call);
    std::vector<VkExtensionProperties> all(count);
    if (const VkResult r = calls.extensions(layer, &count, all.data()); r < VK_SUCCESS) return failed(r, call);
    return std::ranges::any_of(all,
                               [&](const VkExtensionProperties& p) { return std::strcmp(p.extensionName, name) == 0; });
}

/// The validation settings for vkCreateInstance; it must not move before that call.
struct ValidationChain {
    VkBool32 yes = VK_TRUE;
    // Without the second one, the layer does not track what shaders read and write, so it does not find a missing
    // barrier between dispatches.
    VkLayerSettingEXT sync[2] = {switched_on("validate_sync"), switched_on("syncval_shader_accesses_heuristic")};
    VkLayerSettingsCreateInfoEXT settings{.sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT,
                                          .pNext = nullptr,
                                          .settingCount = static_cast<uint32_t>(std::size(sync)),
                                          .pSettings = sync};
    VkDebugUtilsMessengerCreateInfoEXT messenger{};

    explicit ValidationChain(MessageLog& log) : messenger(messenger_info(log)) { messenger.pNext = &settings; }
    ValidationChain(const ValidationChain&) = delete;
    ValidationChain& operator=(const ValidationChain&) = delete;

   private:
    VkLayerSettingEXT switched_on(const char* name) const {
        return {.pLayerName = validation_layer,
                .pSettingName = name,
                .type = VK_LAYER_SETTING_TYPE_BOOL32_EXT,
                .valueCount = 1,
                .pValues = &yes};
    }
};

/// With the extension that lists devices of portability drivers, too. Every loader of 2022 and later has it. To ask
/// before, the loader would load all drivers twice more.
VkResult create_portable(const LoaderCalls& calls, VkInstanceCreateInfo info, std::vector<const char*> extensions,
                         VkInstance& instance) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    const VkResult created = calls.create(&info, nullptr, &instance);
    if (created != VK_ERROR_EXTENSION_NOT_PRESENT) return created;
    --info.enabledExtensionCount;
    info.flags &= ~VkInstanceCreateFlags{VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR};
    return calls.create(&info, nullptr, &instance);
}

Result<LoaderCalls> loader_calls() {
    const PFN_vkGetInstanceProcAddr get = open_loader();
    if (!get)
        return Status{
            VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
            "no Vulkan loader on this system (libvulkan.so.1, vulkan-1.dll, libvulkan.dylib); install the Vulkan "
            "runtime or a driver that brings it"};
    const LoaderCalls calls{
        .version = find<PFN_vkEnumerateInstanceVersion>(get, "vkEnumerateInstanceVersion"),
        .layers = find<PFN_vkEnumerateInstanceLayerProperties>(get, "vkEnumerateInstanceLayerProperties"),
        .extensions = find<PFN_vkEnumerateInstanceExtensionProperties>(get, "vkEnumerateInstanceExtensionProperties"),
        .create = find<PFN_vkCreateInstance>(get, "vkCreateInstance")};
    if (!calls.version)
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                      "the Vulkan loader of this system knows Vulkan 1.0 only; 1.1 is needed"};
    return calls;
}

}  // namespace

PFN_vkGetInstanceProcAddr open_loader() {
    static const VkResult opened = volkInitialize();
    return opened == VK_SUCCESS ? vkGetInstanceProcAddr : nullptr;
}

InstanceState::~InstanceState() {
    const HoldFloatExceptions held;
    if (messenger) vk.vkDestroyDebugUtilsMessengerEXT(handle, messenger, nullptr);
    if (handle) vk.vkDestroyInstance(handle, nullptr);
}

Result<std::shared_ptr<InstanceState>> create_instance(Validation validation,
                                                       std::function<void(const Message&)> on_message) {
    const Result<LoaderCalls> calls = loader_calls();
    if (!calls) return calls.status();
    auto state = std::make_shared<InstanceState>();
    state->log.on_message = std::move(on_message);

    uint32_t version = VK_API_VERSION_1_0;
    if (const VkResult r = calls->version(&version); r != VK_SUCCESS) return failed(r, "vkEnumerateInstanceVersion");
    state->api_version = std::min(version, uint32_t{VK_HEADER_VERSION_COMPLETE} & ~uint32_t{0xfff});

    bool layer = false;
    if (validation != Validation::off) {
        const Result<bool> installed = has_layer(*calls, validation_layer);
        if (!installed) return installed.status();
        layer = *installed;
    }
    if (validation == Validation::required && !layer)
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                      std::string("validation was asked for, but the layer ") + validation_layer + " is not installed"};
    state->validated = layer;

    VkApplicationInfo app{};
    app.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    app.pApplicationName = "vkgemm::host";
    app.apiVersion = state->api_version;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &app;

    const ValidationChain chain(state->log);
    const char* const layers[] = {validation_layer};
    std::vector<const char*> extensions;
    if (layer) {
        extensions = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_LAYER_SETTINGS_EXTENSION_NAME};
        for (const char* name : extensions) {
            Result<bool> has = has_instance_extension(*calls, nullptr, name);
            if (has && !*has) has = has_instance_extension(*calls, validation_layer, name);
            if (!has) return has.status();
            if (!*has)
                return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                              std::string("the validation layer here is too old: it lacks ") + name};
        }
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = layers;
        info.pNext = &chain.messenger;
    }
    const VkResult created = create_portable(*calls, info, extensions, state->handle);
    if (created == VK_ERROR_INCOMPATIBLE_DRIVER) return Status{VKGEMM_ERROR_UNSUPPORTED, created, no_driver};
    if (created != VK_SUCCESS) return failed(created, "vkCreateInstance");
    volkLoadInstanceTable(&state->vk, state->handle);
    if (layer) {
        const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(state->log);
        const VkResult made =
            state->vk.vkCreateDebugUtilsMessengerEXT(state->handle, &messenger, nullptr, &state->messenger);
        if (made != VK_SUCCESS) return failed(made, "vkCreateDebugUtilsMessengerEXT");
    }
    return state;
}

const char* result_name(VkResult result) {
    switch (result) {
#define NAME(r) \
    case r:     \
        return #r
        NAME(VK_SUCCESS);
        NAME(VK_NOT_READY);
        NAME(VK_TIMEOUT);
        NAME(VK_INCOMPLETE);
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_UNKNOWN);
#undef NAME
        default:
            return nullptr;
    }
}

Status failed(VkResult result, std::string_view what) {
    VkgemmResult code = VKGEMM_ERROR_VULKAN;
    if (result == VK_ERROR_DEVICE_LOST) code = VKGEMM_ERROR_DEVICE_LOST;
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
        code = VKGEMM_ERROR_OUT_OF_MEMORY;
    const char* name = result_name(result);
    return {code, result,
            std::string(what) + ": " + (name ? name : "VkResult " + std::to_string(static_cast<int>(result)))};
}

}  // namespace detail

PFN_vkGetInstanceProcAddr loader() {
    const HoldFloatExceptions held;
    return detail::open_loader();
}

}  // namespace vkgemm::host
