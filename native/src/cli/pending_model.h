// A model on its way to its place: under temporary names until commit(). Without one, nothing is left behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "data/mapped_file.h"
#include "octet/model.h"

namespace octet {

class PendingModel {
 public:
  // Writes everything. `force` allows commit() to replace what is there; `to_be_run` makes path() a model that runs
  // even when its weights go to OUTPUT.data, which has no final name yet. Throws what save_model and OutputFile throw.
  PendingModel(const Model& model, const std::filesystem::path& output, bool force, bool external_data, bool to_be_run);

  const std::filesystem::path& path() const { return readable_ ? readable_->temporary() : file_.temporary(); }
  std::uint64_t bytes() const { return sizes_.model_bytes + sizes_.external_bytes; }
  void commit();

 private:
  OutputFile file_;
  std::unique_ptr<OutputFile> data_, readable_;
  SaveResult sizes_;
};

}  // namespace octet
