#include "engine/model_session.h"

#include <filesystem>

#include "data/mapped_file.h"

namespace octet {
namespace {

constexpr std::uint64_t kMostInMemory = std::uint64_t{32} << 20;

}  // namespace

Session open_session(const Model& model, const EngineOptions& options) {
  if (const SaveResult size = measure_model(model); size.model_bytes + size.external_bytes <= kMostInMemory) {
    MemorySink sink;
    save_model(model, sink);
    return Session::from_bytes(sink.bytes(), options);
  }
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  OutputFile weights(folder / "octet-session.data", true), file(folder / "octet-session.onnx", true);
  SaveOptions save;
  save.external_data = true;
  save.external_location = weights.temporary().filename().string();
  save_model(
      model, file, [&]() -> ByteSink& { return weights; }, save);
  weights.flush();
  file.flush();
  return Session::from_file(file.temporary(), options);
}

}  // namespace octet
