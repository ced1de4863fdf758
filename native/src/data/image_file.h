// Picture files as tensors.
#pragma once

#include <filesystem>

#include "octet/image.h"

namespace octet {

bool is_image_file(const std::filesystem::path& path);  // by its name: .png, .jpg, .jpeg, .bmp, in either case

// Decodes, resizes (bilinear; where it gets smaller, over all pixels that one covers) and converts one picture. What
// the file says of orientation (EXIF) is not followed; 16-bit channels lose their lower half, alpha is dropped where
// the input has no place for it. Throws Error(kRead) or Error(kData) naming the file.
Tensor read_image(const std::filesystem::path& path, const ImageInput& input, const ImageOptions& options);

}  // namespace octet
