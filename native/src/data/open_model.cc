#include "data/open_model.h"

#include "data/mapped_file.h"

namespace octet {

Model open_model(const std::filesystem::path& path) {
  auto source = open_file(path);
  return load_model(std::move(source), path.filename().string(), external_beside(path));
}

}  // namespace octet
