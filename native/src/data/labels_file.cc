#include "data/labels_file.h"

#include "data/mapped_file.h"
#include "octet/error.h"

namespace octet {

AccuracyMeter labels_beside(const std::filesystem::path& data) {
  const std::filesystem::path path = data / "labels.json";
  std::error_code fault;
  return std::filesystem::is_regular_file(path, fault) ? labels_of_file(path) : AccuracyMeter();
}

AccuracyMeter labels_of_file(const std::filesystem::path& labels) {
  try {
    return AccuracyMeter(read_text_file(labels));
  } catch (const Error& error) {
    return AccuracyMeter::unreadable(error.what());
  }
}

}  // namespace octet
