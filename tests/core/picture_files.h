// Picture files made in memory. To be included in one place of a program.
#pragma once

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>

namespace octet::fixtures {

using PictureBytes = std::vector<std::uint8_t>;

inline void append_to(void* to, void* data, int size) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  static_cast<PictureBytes*>(to)->insert(static_cast<PictureBytes*>(to)->end(), bytes, bytes + size);
}

inline PictureBytes png(int width, int height, int channels, const PictureBytes& pixels) {
  PictureBytes file;
  EXPECT_TRUE(stbi_write_png_to_func(append_to, &file, width, height, channels, pixels.data(), width * channels));
  return file;
}

inline PictureBytes bmp(int width, int height, const PictureBytes& pixels) {
  PictureBytes file;
  EXPECT_TRUE(stbi_write_bmp_to_func(append_to, &file, width, height, 3, pixels.data()));
  return file;
}

inline PictureBytes jpeg(int width, int height, const PictureBytes& pixels) {
  PictureBytes file;
  EXPECT_TRUE(stbi_write_jpg_to_func(append_to, &file, width, height, 3, pixels.data(), 95));
  return file;
}

inline PictureBytes repeated(const PictureBytes& pixel, int times) {
  PictureBytes all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), pixel.begin(), pixel.end());
  return all;
}

}  // namespace octet::fixtures
