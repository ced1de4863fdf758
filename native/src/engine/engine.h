// ONNX Runtime behind one small interface. The library is opened when the first Session is made, never before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "octet/tensor.h"

namespace octet {

struct EngineOptions {
  bool optimize = true;       // graph optimizations: all, or none
  unsigned threads = 1;       // intra-op; 0 = as many as the machine has
  bool shared_arena = false;  // values live in the SharedArena, which must be there
  // Where a model given as bytes finds its external data; empty: it has none.
  std::filesystem::path external_folder = {};
  // Where the runtime writes what its optimizations made of the model: shows which patterns it recognized.
  std::filesystem::path optimized_file = {};
  // The runtime writes how long each node took to a file whose name begins with this; it does so from the moment the
  // session is made. Takes time itself.
  std::filesystem::path profile_prefix = {};
};

// What the runtime holds, looked at in place.
struct TensorView {
  int type = kUndefined;
  std::vector<std::int64_t> dims;
  std::span<const std::uint8_t> bytes;  // row-major; empty for strings
};

// Values by name that stay where the runtime made them, from one session to the next.
class LiveValues {
 public:
  LiveValues();
  LiveValues(LiveValues&&) noexcept;
  LiveValues& operator=(LiveValues&&) noexcept;
  ~LiveValues();

  // Looks at `tensor`, which must stay.
  void lend(const std::string& name, const Tensor& tensor);
  // Nothing where there is no such value or it is no tensor. Good until the value is dropped.
  std::optional<TensorView> view(const std::string& name) const;
  void drop(const std::string& name);

 private:
  friend class Session;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Session {
 public:
  // Throws Error(kRun) with the runtime's own first line when the model does not load.
  static Session from_file(const std::filesystem::path& path, const EngineOptions& options);
  static Session from_bytes(std::span<const std::uint8_t> model, const EngineOptions& options);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  const std::vector<ValueInfo>& inputs() const;
  const std::vector<ValueInfo>& outputs() const;

  // Throws Error(kRun) or Error(kData). Outputs that are no tensors, or tensors of strings, are left out, as are
  // entries of `inputs` the model does not have. `outputs` empty = all.
  Sample run(const Sample& inputs, const std::vector<std::string>& outputs = {}) const;
  // One run on the values of the inputs' names, which adds one for each output. Throws as above.
  void run(LiveValues& values) const;
  // One run without copying outputs out, for timing; returns milliseconds of the run alone.
  double time_run(const Sample& inputs) const;
  // Ends what EngineOptions::profile_prefix began: the file is then complete.
  void end_profiling();

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

std::string runtime_version();  // e.g. "1.30.0"

}  // namespace octet
