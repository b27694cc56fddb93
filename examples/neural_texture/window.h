// SPDX-License-Identifier: MIT
// A window, of GLFW, and its swapchain.
#pragma once
#include "renderer.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>

namespace renderer {

class Window {
   public:
    /// The extensions of the instance that a window needs.
    static std::vector<const char*> extensions() {
        uint32_t count = 0;
        if (!glfwInit()) fail("--window needs a display, and GLFW found none");
        const char** const names = glfwGetRequiredInstanceExtensions(&count);
        if (!names) fail("this system's Vulkan cannot draw to a window");
        return {names, names + count};
    }
    Window(Gpu& gpu, vk::Extent2D size) : gpu_(gpu) {
        glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
        const int width = static_cast<int>(size.width), height = static_cast<int>(size.height);
        window_ = glfwCreateWindow(width, height, "neural texture", nullptr, nullptr);
        if (!window_) fail("GLFW cannot open a window; without --window no display is needed");
        glfwSetInputMode(window_, GLFW_STICKY_KEYS, GLFW_TRUE);
        VkSurfaceKHR surface = nullptr;
        check(glfwCreateWindowSurface(*gpu.instance, window_, nullptr, &surface), "glfwCreateWindowSurface");
        surface_ = {gpu.instance, surface};
        if (!gpu.physical.getSurfaceSupportKHR(gpu.family, *surface_))
            fail("the queue that draws cannot present to this window");
        make_swapchain();
    }
    ~Window() {
        gpu_.finish();
        drawn_.clear();
        swapchain_.clear();
        surface_.clear();
        glfwDestroyWindow(window_);
        glfwTerminate();
    }
    bool closed() {
        glfwPollEvents();
        return glfwWindowShouldClose(window_) || glfwGetKey(window_, GLFW_KEY_ESCAPE) == GLFW_PRESS;
    }
    /// Of the window's pixels, now; 0 x 0 while it is minimised.
    vk::Extent2D size() {
        int width = 0, height = 0;
        if (!glfwGetWindowAttrib(window_, GLFW_ICONIFIED)) glfwGetFramebufferSize(window_, &width, &height);
        if (width == 0 || height == 0) glfwWaitEventsTimeout(0.01);  // minimised: learn on, without haste
        return {static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
    }
    /// Adds the copy of the screen to the graph, submits the frame, and shows it. The frame is not shown if the window
    /// gives no image for a second, or if its swapchain is out of date, which is then made anew.
    void present(Renderer& r) {
        const vk::Semaphore acquired = *r.current().acquired;
        vk::Result found = vk::Result::eErrorOutOfDateKHR;
        uint32_t index = 0;
        if (*swapchain_) {
            constexpr uint64_t second = 1'000'000'000;  // a window that is hidden may give no image
            const auto next = swapchain_.acquireNextImage(second, acquired);
            found = next.result;
            index = next.value;
        }
        if (found == vk::Result::eErrorOutOfDateKHR || found == vk::Result::eTimeout) {
            r.submit();
            if (found == vk::Result::eErrorOutOfDateKHR) make_swapchain();
            return;
        }
        r.graph.part("present");
        r.graph.pass("present", {copied_from(r.screen)},
                     [&, image = images_[index]](const Graph::Commands& commands) { copy(commands, r, image); });
        r.submit(acquired, *drawn_[index]);
        const vk::Result shown = gpu_.queue.presentKHR({*drawn_[index], *swapchain_, index});
        if (shown != vk::Result::eSuccess) make_swapchain();  // out of date, or suboptimal
    }

   private:
    void make_swapchain() {
        gpu_.finish();
        const vk::SurfaceCapabilitiesKHR can = gpu_.physical.getSurfaceCapabilitiesKHR(*surface_);
        extent_ = can.currentExtent.width == UINT32_MAX ? size() : can.currentExtent;
        if (extent_.width == 0 || extent_.height == 0) return;  // minimised meanwhile: the next present tries again
        const auto formats = gpu_.physical.getSurfaceFormatsKHR(*surface_);
        const auto plain = std::ranges::find(formats, vk::Format::eB8G8R8A8Unorm, &vk::SurfaceFormatKHR::format);
        if (plain == formats.end()) fail("the window has no format VK_FORMAT_B8G8R8A8_UNORM");
        const uint32_t count = std::clamp(3u, can.minImageCount, std::max(can.maxImageCount, can.minImageCount + 2));
        swapchain_ = gpu_.device.createSwapchainKHR(
            vk::SwapchainCreateInfoKHR({}, *surface_, count, plain->format, plain->colorSpace, extent_, 1)
                .setImageUsage(vk::ImageUsageFlagBits::eTransferDst)
                .setPreTransform(can.currentTransform)
                .setPresentMode(vk::PresentModeKHR::eFifo)
                .setClipped(true)
                .setOldSwapchain(*swapchain_));
        images_ = swapchain_.getImages();
        drawn_.clear();
        for (size_t i = 0; i < images_.size(); ++i) drawn_.push_back(gpu_.device.createSemaphore({}));
    }
    /// Waits, as the submission does for the image, at the transfer stage.
    void copy(const Graph::Commands& commands, const Renderer& from, vk::Image to) const {
        constexpr vk::ImageSubresourceRange all(vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1);
        constexpr auto copied = vk::ImageLayout::eTransferDstOptimal;
        const vk::ImageMemoryBarrier2 before(Stage::eAllTransfer, {}, Stage::eAllTransfer, Access::eTransferWrite, {},
                                             copied, 0, 0, to, all);
        commands.pipelineBarrier2({{}, {}, {}, before});
        const vk::Extent3D size(std::min(from.extent.width, extent_.width),
                                std::min(from.extent.height, extent_.height), 1);
        const vk::ImageSubresourceLayers layer(vk::ImageAspectFlagBits::eColor, 0, 0, 1);
        commands.copyBufferToImage(from.screen.handle, to, copied,
                                   vk::BufferImageCopy(0, from.extent.width, 0, layer, {}, size));
        const vk::ImageMemoryBarrier2 after(Stage::eAllTransfer, Access::eTransferWrite, {}, {}, copied,
                                            vk::ImageLayout::ePresentSrcKHR, 0, 0, to, all);
        commands.pipelineBarrier2({{}, {}, {}, after});
    }

    Gpu& gpu_;
    GLFWwindow* window_ = nullptr;
    vk::raii::SurfaceKHR surface_{nullptr};
    vk::raii::SwapchainKHR swapchain_{nullptr};
    vk::Extent2D extent_{};
    std::vector<vk::Image> images_{};
    std::vector<vk::raii::Semaphore> drawn_{};  // by image
};

}  // namespace renderer
