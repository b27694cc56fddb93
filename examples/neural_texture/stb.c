/* SPDX-License-Identifier: MIT
 * The code of stb's PNG writer and font, which are headers (Debian: libstb-dev). */
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_easy_font.h>
#include <stb_image_write.h>

int renderer_text_quads(char* text, void* quads, int bytes) {
    return stb_easy_font_print(0, 0, text, NULL, quads, bytes);
}
int renderer_write_png(const char* file, int width, int height, const void* rgba) {
    stbi_write_png_compression_level = 12;
    return stbi_write_png(file, width, height, 4, rgba, width * 4);
}
