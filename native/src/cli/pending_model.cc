#include "cli/pending_model.h"

#include "cli/model_options.h"

namespace octet {
namespace {

class DiscardSink final : public ByteSink {
 public:
  void append(std::span<const std::uint8_t>) override {}
};

}  // namespace

PendingModel::PendingModel(const Model& model, const std::filesystem::path& output, bool force, bool external_data,
                           bool to_be_run)
    : file_(output, force) {
  SaveOptions save;
  save.threads = machine_threads();
  save.external_data = external_data;
  save.external_location = output.filename().string() + ".data";
  const auto data_path = output.parent_path() / save.external_location;
  sizes_ = save_model(
      model, file_,
      [&]() -> ByteSink& {
        data_ = std::make_unique<OutputFile>(data_path, force);
        return *data_;
      },
      save);
  if (data_ && to_be_run) {
    // What is run is the same model under the names of now.
    readable_ = std::make_unique<OutputFile>(output.string() + ".check", true);
    save.external_location = data_->temporary().filename().string();
    DiscardSink discard;
    save_model(
        model, *readable_, [&]() -> ByteSink& { return discard; }, save);
    readable_->flush();
    data_->flush();
  }
  file_.flush();
}

void PendingModel::commit() {
  if (data_) data_->commit();
  file_.commit();
}

}  // namespace octet
