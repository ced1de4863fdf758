// numpy's archives: a zip of arrays, read without trusting it.
#pragma once

#include <filesystem>

#include "octet/tensor.h"

namespace octet {

// All arrays of a .npz, by key. Throws Error(kRead) or Error(kData) naming the file and the key.
Sample read_npz(const std::filesystem::path& path);

}  // namespace octet
