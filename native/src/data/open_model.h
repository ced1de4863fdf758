// A model by its path.
#pragma once

#include <filesystem>

#include "octet/model.h"

namespace octet {

// Maps and loads a model with its external data; `file_bytes` counts both.
Model open_model(const std::filesystem::path& path);

}  // namespace octet
