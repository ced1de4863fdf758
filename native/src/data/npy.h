// numpy's array files, read without trusting them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "octet/tensor.h"

namespace octet {

// One array: .npy versions 1 to 3, C or Fortran order, either byte order; the result is row-major and little-endian.
// `name` is for messages. Throws Error(kData): object, structured, complex and text arrays, and lengths that do not add
// up.
Tensor parse_npy(std::span<const std::uint8_t> bytes, const std::string& name);

// All arrays of a .npz, by key. Throws Error(kRead) or Error(kData) naming the file and the key.
Sample read_npz(const std::filesystem::path& path);

}  // namespace octet
