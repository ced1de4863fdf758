#include "data/labels_file.h"

#include <string>

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
    const auto file = open_file(labels);
    std::string text(file->size(), ' ');
    file->read(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
    return AccuracyMeter(text);
  } catch (const Error& error) {
    return AccuracyMeter::unreadable(error.what());
  }
}

}  // namespace octet
