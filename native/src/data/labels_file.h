// The labels of a folder of samples.
#pragma once

#include <filesystem>

#include "octet/labels.h"

namespace octet {

// Those of labels.json in `data`, which is as given to open_samples; none where that is no folder or has none.
AccuracyMeter labels_beside(const std::filesystem::path& data);
// Those of a file. What cannot be read gives no accuracy and a reason.
AccuracyMeter labels_of_file(const std::filesystem::path& labels);

}  // namespace octet
