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
    gpu_.wait_idle();
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

void Window::present(Renderer& r) {
    const VkSemaphore acquired = r.current().acquired;
    uint32_t index = 0;
    const VkResult found =
        swapchain_ ? vkAcquireNextImageKHR(gpu_.device, swapchain_, UINT64_MAX, acquired, VK_NULL_HANDLE, &index)
                   : VK_ERROR_OUT_OF_DATE_KHR;
    if (found == VK_ERROR_OUT_OF_DATE_KHR) {
        r.submit();
        make_swapchain();
        return;
    }
    if (found != VK_SUBOPTIMAL_KHR) check(found, "vkAcquireNextImageKHR");
    r.graph.part("present");
    r.graph.pass("present", {copied_from(r.scene.screen)},
                 [&, image = images_[index]](VkCommandBuffer commands) { copy(commands, r.scene, image); });
    r.submit(acquired, drawn_[index]);
    const VkPresentInfoKHR info{.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                .waitSemaphoreCount = 1,
                                .pWaitSemaphores = &drawn_[index],
                                .swapchainCount = 1,
                                .pSwapchains = &swapchain_,
                                .pImageIndices = &index};
    const VkResult shown = vkQueuePresentKHR(gpu_.queue, &info);
    if (shown == VK_ERROR_OUT_OF_DATE_KHR || shown == VK_SUBOPTIMAL_KHR)
        make_swapchain();
    else
        check(shown, "vkQueuePresentKHR");
}

void Window::make_swapchain() {
    gpu_.wait_idle();
    VkSurfaceCapabilitiesKHR can{};
    check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(gpu_.physical, surface_, &can), "surface capabilities");
    extent_ = can.currentExtent;
    if (extent_.width == UINT32_MAX) extent_ = size();
    if (extent_.width == 0 || extent_.height == 0) return;  // minimised meanwhile: the next present tries again
    uint32_t count = 0;
    check(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu_.physical, surface_, &count, nullptr), "surface formats");
    std::vector<VkSurfaceFormatKHR> formats(count);
    check(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu_.physical, surface_, &count, formats.data()), "surface formats");
    const auto plain = std::ranges::find(formats, VK_FORMAT_B8G8R8A8_UNORM, &VkSurfaceFormatKHR::format);
    if (plain == formats.end()) fail("the window has no format VK_FORMAT_B8G8R8A8_UNORM");
    const VkSwapchainKHR old = swapchain_;
    const VkSwapchainCreateInfoKHR info{
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = surface_,
        .minImageCount = std::clamp(3u, can.minImageCount, std::max(can.maxImageCount, can.minImageCount + 2)),
        .imageFormat = plain->format,
        .imageColorSpace = plain->colorSpace,
        .imageExtent = extent_,
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .preTransform = can.currentTransform,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR,
        .clipped = VK_TRUE,
        .oldSwapchain = old};
    check(vkCreateSwapchainKHR(gpu_.device, &info, nullptr, &swapchain_), "vkCreateSwapchainKHR");
    vkDestroySwapchainKHR(gpu_.device, old, nullptr);
    check(vkGetSwapchainImagesKHR(gpu_.device, swapchain_, &count, nullptr), "vkGetSwapchainImagesKHR");
    images_.resize(count);
    check(vkGetSwapchainImagesKHR(gpu_.device, swapchain_, &count, images_.data()), "vkGetSwapchainImagesKHR");
    destroy_semaphores();
    drawn_.resize(count);
    const VkSemaphoreCreateInfo semaphore{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    for (VkSemaphore& s : drawn_) check(vkCreateSemaphore(gpu_.device, &semaphore, nullptr, &s), "vkCreateSemaphore");
}

void Window::destroy_semaphores() {
    for (VkSemaphore s : drawn_) vkDestroySemaphore(gpu_.device, s, nullptr);
    drawn_.clear();
}

/// Waits, as the submission does for the image, at the transfer stage.
void Window::copy(VkCommandBuffer commands, const Scene& from, VkImage to) const {
    VkImageMemoryBarrier2 barrier{
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .image = to,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1}};
    const VkDependencyInfo info{
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .imageMemoryBarrierCount = 1, .pImageMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &info);
    const VkBufferImageCopy all{.bufferRowLength = from.extent.width,
                                .imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
                                .imageExtent = {.width = std::min(from.extent.width, extent_.width),
                                                .height = std::min(from.extent.height, extent_.height),
                                                .depth = 1}};
    vkCmdCopyBufferToImage(commands, from.screen.handle, to, barrier.newLayout, 1, &all);
    barrier.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    barrier.dstStageMask = VK_PIPELINE_STAGE_2_NONE;
    barrier.dstAccessMask = 0;
    barrier.oldLayout = barrier.newLayout;
    barrier.newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
    vkCmdPipelineBarrier2(commands, &info);
}

}  // namespace renderer
