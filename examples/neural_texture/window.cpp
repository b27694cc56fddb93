// SPDX-License-Identifier: MIT
#include "window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>

namespace renderer {

std::vector<const char*> Window::extensions() {
    uint32_t count = 0;
    if (!glfwInit()) fail("--window needs a display, and GLFW found none");
    const char** const names = glfwGetRequiredInstanceExtensions(&count);
    if (!names) fail("this system's Vulkan cannot draw to a window");
    return {names, names + count};
}

Window::Window(Gpu& gpu, VkExtent2D size) : gpu_(gpu) {
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    const int width = static_cast<int>(size.width), height = static_cast<int>(size.height);
    window_ = glfwCreateWindow(width, height, "neural texture", nullptr, nullptr);
    if (!window_) fail("GLFW cannot open a window; without --window no display is needed");
    glfwSetInputMode(window_, GLFW_STICKY_KEYS, GLFW_TRUE);
    check(glfwCreateWindowSurface(gpu.instance, window_, nullptr, &surface_), "glfwCreateWindowSurface");
    VkBool32 supported = VK_FALSE;
    check(vkGetPhysicalDeviceSurfaceSupportKHR(gpu.physical, gpu.family, surface_, &supported), "surface support");
    if (!supported) fail("the queue that draws cannot present to this window");
    make_swapchain();
}

Window::~Window() {
    check(vkDeviceWaitIdle(gpu_.device), "vkDeviceWaitIdle");
    destroy_semaphores();
    vkDestroySwapchainKHR(gpu_.device, swapchain_, nullptr);
    vkDestroySurfaceKHR(gpu_.instance, surface_, nullptr);
    glfwDestroyWindow(window_);
    glfwTerminate();
}

bool Window::closed() {
    glfwPollEvents();
    return glfwWindowShouldClose(window_) || glfwGetKey(window_, GLFW_KEY_ESCAPE) == GLFW_PRESS;
}

VkExtent2D Window::size() {
    int width = 0, height = 0;
    if (!glfwGetWindowAttrib(window_, GLFW_ICONIFIED)) glfwGetFramebufferSize(window_, &width, &height);
    if (width == 0 || height == 0) glfwWaitEventsTimeout(0.01);  // minimised: learn on, without haste
    return {static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
}

void Window::present(Graph& graph, Frames& frames, const Image& picture) {
    const VkSemaphore acquired = frames.current().acquired;
    uint32_t index = 0;
    const VkResult found =
        swapchain_ ? vkAcquireNextImageKHR(gpu_.device, swapchain_, UINT64_MAX, acquired, VK_NULL_HANDLE, &index)
                   : VK_ERROR_OUT_OF_DATE_KHR;
    if (found == VK_ERROR_OUT_OF_DATE_KHR) {
        frames.submit();
        make_swapchain();
        return;
    }
    if (found != VK_SUBOPTIMAL_KHR) check(found, "vkAcquireNextImageKHR");
    graph.part("present");
    graph.pass("present", {copied_from(picture)},
               [this, picture, image = images_[index]](VkCommandBuffer c) { copy(c, picture, image); });
    frames.submit(acquired, drawn_[index]);
    VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, nullptr, 1, &drawn_[index]};
    info.swapchainCount = 1, info.pSwapchains = &swapchain_, info.pImageIndices = &index;
    const VkResult shown = vkQueuePresentKHR(gpu_.queue, &info);
    if (shown == VK_ERROR_OUT_OF_DATE_KHR || shown == VK_SUBOPTIMAL_KHR)
        make_swapchain();
    else
        check(shown, "vkQueuePresentKHR");
}

void Window::make_swapchain() {
    check(vkDeviceWaitIdle(gpu_.device), "vkDeviceWaitIdle");
    VkSurfaceCapabilitiesKHR can{};
    check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(gpu_.physical, surface_, &can), "surface capabilities");
    extent_ = can.currentExtent;
    if (extent_.width == UINT32_MAX) extent_ = size();
    if (extent_.width == 0 || extent_.height == 0) return;  // minimised meanwhile: the next present tries again
    uint32_t count = 0;
    check(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu_.physical, surface_, &count, nullptr), "surface formats");
    std::vector<VkSurfaceFormatKHR> formats(count);
    check(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu_.physical, surface_, &count, formats.data()), "surface formats");
    const auto plain = std::ranges::find_if(formats, [](const VkSurfaceFormatKHR& f) {
        return f.format == VK_FORMAT_B8G8R8A8_UNORM || f.format == VK_FORMAT_R8G8B8A8_UNORM;
    });
    if (plain == formats.end()) fail("the window has no format of 8 bits without sRGB conversion");
    const VkSwapchainKHR old = swapchain_;
    VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR, nullptr, 0, surface_};
    info.minImageCount = std::clamp(3u, can.minImageCount, std::max(can.maxImageCount, can.minImageCount + 2));
    info.imageFormat = plain->format, info.imageColorSpace = plain->colorSpace;
    info.imageExtent = extent_, info.imageArrayLayers = 1, info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    info.preTransform = can.currentTransform, info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
    info.presentMode = VK_PRESENT_MODE_FIFO_KHR, info.clipped = VK_TRUE, info.oldSwapchain = old;
    check(vkCreateSwapchainKHR(gpu_.device, &info, nullptr, &swapchain_), "vkCreateSwapchainKHR");
    vkDestroySwapchainKHR(gpu_.device, old, nullptr);
    check(vkGetSwapchainImagesKHR(gpu_.device, swapchain_, &count, nullptr), "vkGetSwapchainImagesKHR");
    images_.resize(count);
    check(vkGetSwapchainImagesKHR(gpu_.device, swapchain_, &count, images_.data()), "vkGetSwapchainImagesKHR");
    destroy_semaphores();
    drawn_.resize(count);
    const VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    for (VkSemaphore& s : drawn_) check(vkCreateSemaphore(gpu_.device, &semaphore, nullptr, &s), "vkCreateSemaphore");
}

void Window::destroy_semaphores() {
    for (VkSemaphore s : drawn_) vkDestroySemaphore(gpu_.device, s, nullptr);
    drawn_.clear();
}

void Window::copy(VkCommandBuffer commands, const Image& from, VkImage to) const {
    VkImageMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2};
    barrier.srcStageMask = barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;  // as the semaphore
    barrier.dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT, barrier.newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    barrier.image = to, barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    info.imageMemoryBarrierCount = 1, info.pImageMemoryBarriers = &barrier;
    vkCmdPipelineBarrier2(commands, &info);
    constexpr VkImageSubresourceLayers colour{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const auto end = [](VkExtent2D e) {
        return VkOffset3D{static_cast<int32_t>(e.width), static_cast<int32_t>(e.height), 1};
    };
    const VkImageBlit all{colour, {{}, end(from.size)}, colour, {{}, end(extent_)}};
    vkCmdBlitImage(commands, from.handle, VK_IMAGE_LAYOUT_GENERAL, to, barrier.newLayout, 1, &all, VK_FILTER_LINEAR);
    barrier.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT, barrier.dstAccessMask = 0;
    barrier.dstStageMask = VK_PIPELINE_STAGE_2_NONE;
    barrier.oldLayout = barrier.newLayout, barrier.newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
    vkCmdPipelineBarrier2(commands, &info);
}

}  // namespace renderer
