#include "engine/engine.h"

#include <fmt/format.h>
#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "engine/ort_library.h"
#include "octet/dtype.h"
#include "octet/error.h"

namespace octet {
namespace {

// The runtime numbers element types as TensorProto does; nothing below translates them.
static_assert(int{ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT} == int{kFloat});
static_assert(int{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64} == int{kInt64});
static_assert(int{ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING} == int{kString});
static_assert(int{ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL} == int{kBool});
static_assert(int{ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16} == int{kFloat16});
static_assert(int{ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16} == int{kBfloat16});
static_assert(int{ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4} == int{kUint4});
static_assert(int{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4} == int{kInt4});

// Cuts "/onnxruntime_src/…/file.h:91 onnxruntime::Class::Function(types) const " out of a message: where the runtime
// noticed, in its own sources.
void drop_source_place(std::string& line) {
  const std::size_t begin = line.find("/onnxruntime");
  const std::size_t open = begin == std::string::npos ? begin : line.find('(', begin);
  if (open == std::string::npos) return;
  int depth = 0;
  std::size_t end = open;
  for (; end < line.size(); ++end) {
    if (line[end] == '(') ++depth;
    if (line[end] == ')' && --depth == 0) break;
  }
  if (end == line.size()) return;
  ++end;
  if (line.compare(end, 6, " const") == 0) end += 6;
  while (end < line.size() && line[end] == ' ') ++end;
  line.erase(begin, end - begin);
}

// The runtime's messages run over several lines; people get the first, without what only its authors need.
std::string first_line(const char* message) {
  constexpr std::size_t kMaxLength = 600;
  std::string line(message);
  line.resize(std::min(line.find_first_of("\r\n"), line.size()));
  drop_source_place(line);
  if (line.size() > kMaxLength) line = line.substr(0, kMaxLength) + "…";
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

Ort::SessionOptions session_options(const EngineOptions& options) {
  Ort::SessionOptions result;
  result.SetGraphOptimizationLevel(options.optimize ? ORT_ENABLE_ALL : ORT_DISABLE_ALL);
  result.SetIntraOpNumThreads(static_cast<int>(options.threads));
  result.SetInterOpNumThreads(1);
  if (options.shared_arena) {
    result.AddConfigEntry(kOrtSessionOptionsConfigUseEnvAllocators, "1");
    result.DisableMemPattern();  // which would take memory for all values of a run at once
  }
  result.SetExecutionMode(ORT_SEQUENTIAL);
  result.SetLogSeverityLevel(ORT_LOGGING_LEVEL_FATAL);
  result.SetDeterministicCompute(true);
  // Threads of an idle session must not take the processor from the one being timed.
  result.AddConfigEntry(kOrtSessionOptionsConfigForceSpinningStop, "1");
  if (!options.external_folder.empty()) {
    result.AddConfigEntry(kOrtSessionOptionsModelExternalInitializersFileFolderPath,
                          std::filesystem::absolute(options.external_folder).string().c_str());
  }
  if (!options.optimized_file.empty()) result.SetOptimizedModelFilePath(options.optimized_file.c_str());
  if (!options.profile_prefix.empty()) result.EnableProfiling(options.profile_prefix.c_str());
  return result;
}

ValueInfo value_info(std::string name, const Ort::TypeInfo& type) {
  ValueInfo info;
  info.name = std::move(name);
  info.is_tensor = type.GetONNXType() == ONNX_TYPE_TENSOR;
  if (!info.is_tensor) return info;
  const auto tensor = type.GetTensorTypeAndShapeInfo();
  info.type = static_cast<int>(tensor.GetElementType());
  info.dims = tensor.GetShape();
  std::vector<const char*> symbols(info.dims.size(), nullptr);
  if (!symbols.empty()) tensor.GetSymbolicDimensions(symbols.data(), symbols.size());
  for (const char* symbol : symbols) info.symbols.emplace_back(symbol == nullptr ? "" : symbol);
  for (std::int64_t& dim : info.dims) dim = std::max<std::int64_t>(dim, -1);
  return info;
}

void check_input(const std::string& model, const ValueInfo& wanted, const Tensor& found) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorCode::kData, model, what); };
  bool fits = found.type == wanted.type;
  if (!wanted.dims.empty()) {
    fits = fits && found.dims.size() == wanted.dims.size();
    for (std::size_t i = 0; fits && i < wanted.dims.size(); ++i) {
      fits = wanted.dims[i] < 0 || wanted.dims[i] == found.dims[i];
    }
  }
  if (!fits) {
    refuse(fmt::format("input '{}' is {}, the model wants {}", wanted.name, describe(found.type, found.dims),
                       describe(wanted.type, wanted.dims)));
  }
  const std::uint64_t bytes = tensor_size(found.type, found.dims);
  if (found.bytes.size() != bytes) {
    refuse(fmt::format("input '{}' is {} but holds {} bytes instead of {}", wanted.name,
                       describe(found.type, found.dims), found.bytes.size(), bytes));
  }
}

// A view: the runtime takes a pointer that is not const, and does not write to inputs.
Ort::Value input_value(const Ort::MemoryInfo& memory, const Tensor& tensor) {
  static std::uint8_t nothing = 0;  // an empty tensor still needs an address
  auto* data = tensor.bytes.empty() ? &nothing : const_cast<std::uint8_t*>(tensor.bytes.data());
  return Ort::Value::CreateTensor(memory, data, tensor.bytes.size(), tensor.dims.data(), tensor.dims.size(),
                                  static_cast<ONNXTensorElementDataType>(tensor.type));
}

}  // namespace

struct Session::Impl {
  // Mutable because the runtime's Run is not const; it is safe to call from several threads.
  mutable Ort::Session session{nullptr};
  Ort::MemoryInfo memory{nullptr};
  std::string name;  // for messages
  std::vector<ValueInfo> inputs, outputs;

  template <class Create>
  static std::unique_ptr<Impl> make(std::string name, const EngineOptions& options, Create&& create) {
    const OrtLibrary& library = ort_library();
    auto impl = std::make_unique<Impl>();
    impl->name = std::move(name);
    try {
      impl->session = create(*library.env, session_options(options));
      impl->memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
      Ort::AllocatorWithDefaultOptions allocator;
      for (std::size_t i = 0; i < impl->session.GetInputCount(); ++i) {
        impl->inputs.push_back(
            value_info(impl->session.GetInputNameAllocated(i, allocator).get(), impl->session.GetInputTypeInfo(i)));
      }
      for (std::size_t i = 0; i < impl->session.GetOutputCount(); ++i) {
        impl->outputs.push_back(
            value_info(impl->session.GetOutputNameAllocated(i, allocator).get(), impl->session.GetOutputTypeInfo(i)));
      }
    } catch (const std::exception& exception) {
      throw Error(ErrorCode::kRun, impl->name,
                  "ONNX Runtime " + library.version + " does not load the model: " + first_line(exception.what()));
    }
    return impl;
  }

  // Names and values for one run; the values point into `sample`.
  struct Arguments {
    std::vector<const char*> input_names, output_names;
    std::vector<Ort::Value> values;
  };

  Arguments arguments(const Sample& sample, const std::vector<std::string>& wanted) const {
    Arguments result;
    for (const ValueInfo& input : inputs) {
      if (!input.is_tensor || input.type == kString) {
        throw Error(ErrorCode::kData, name,
                    "input '" + input.name + "' is no tensor of numbers; samples cannot hold it");
      }
      const auto found = sample.find(input.name);
      if (found == sample.end()) {
        throw Error(ErrorCode::kData, name, "the sample lacks input '" + input.name + "'");
      }
      check_input(name, input, found->second);
      result.input_names.push_back(input.name.c_str());
      result.values.push_back(input_value(memory, found->second));
    }
    for (const std::string& output : wanted) {
      if (std::none_of(outputs.begin(), outputs.end(), [&](const ValueInfo& info) { return info.name == output; })) {
        throw Error(ErrorCode::kRun, name, "the model has no output '" + output + "'");
      }
      result.output_names.push_back(output.c_str());
    }
    if (wanted.empty()) {
      for (const ValueInfo& output : outputs) result.output_names.push_back(output.name.c_str());
    }
    return result;
  }

  std::vector<Ort::Value> run(const Arguments& arguments) const {
    return session.Run(Ort::RunOptions{nullptr}, arguments.input_names.data(), arguments.values.data(),
                       arguments.values.size(), arguments.output_names.data(), arguments.output_names.size());
  }

  Error run_error(const std::exception& exception) const {
    return {ErrorCode::kRun, name, std::string("the run failed: ") + first_line(exception.what())};
  }
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Session Session::from_file(const std::filesystem::path& path, const EngineOptions& options) {
  std::error_code fault;
  if (!std::filesystem::exists(path, fault)) throw Error(ErrorCode::kRead, path.string(), "no such file");
  return Session(Impl::make(path.string(), options, [&](Ort::Env& env, const Ort::SessionOptions& settings) {
    return Ort::Session(env, path.c_str(), settings);
  }));
}

Session Session::from_bytes(std::span<const std::uint8_t> model, const EngineOptions& options) {
  return Session(Impl::make("model", options, [&](Ort::Env& env, const Ort::SessionOptions& settings) {
    return Ort::Session(env, model.data(), model.size(), settings);
  }));
}

const std::vector<ValueInfo>& Session::inputs() const { return impl_->inputs; }
const std::vector<ValueInfo>& Session::outputs() const { return impl_->outputs; }

Sample Session::run(const Sample& inputs, const std::vector<std::string>& outputs) const {
  Sample result;
  try {
    const Impl::Arguments arguments = impl_->arguments(inputs, outputs);
    const std::vector<Ort::Value> values = impl_->run(arguments);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i] || !values[i].IsTensor()) continue;  // sequences, and optionals that are absent
      const auto info = values[i].GetTensorTypeAndShapeInfo();
      Tensor tensor{static_cast<int>(info.GetElementType()), info.GetShape(), {}};
      if (tensor.type == kString) continue;
      const auto* data = static_cast<const std::uint8_t*>(values[i].GetTensorRawData());
      const std::uint64_t bytes = tensor_size(tensor.type, tensor.dims);
      if (bytes != 0) tensor.bytes.assign(data, data + bytes);
      result.emplace(arguments.output_names[i], std::move(tensor));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& exception) {
    throw impl_->run_error(exception);
  }
  return result;
}

double Session::time_run(const Sample& inputs) const {
  try {
    const Impl::Arguments arguments = impl_->arguments(inputs, {});
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Ort::Value> values = impl_->run(arguments);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& exception) {
    throw impl_->run_error(exception);
  }
}

void Session::end_profiling() {
  try {
    Ort::AllocatorWithDefaultOptions allocator;
    impl_->session.EndProfilingAllocated(allocator);
  } catch (const std::exception& exception) {
    throw impl_->run_error(exception);
  }
}

struct LiveValues::Impl {
  std::map<std::string, Ort::Value> values;
};

LiveValues::LiveValues() : impl_(std::make_unique<Impl>()) {}
LiveValues::LiveValues(LiveValues&&) noexcept = default;
LiveValues& LiveValues::operator=(LiveValues&&) noexcept = default;
LiveValues::~LiveValues() = default;

void LiveValues::lend(const std::string& name, const Tensor& tensor) {
  ort_library();
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  impl_->values.insert_or_assign(name, input_value(memory, tensor));
}

std::optional<TensorView> LiveValues::view(const std::string& name) const {
  const auto found = impl_->values.find(name);
  if (found == impl_->values.end() || !found->second || !found->second.IsTensor()) return std::nullopt;
  const auto info = found->second.GetTensorTypeAndShapeInfo();
  TensorView view{static_cast<int>(info.GetElementType()), info.GetShape(), {}};
  if (view.type != kString) {
    const auto* data = static_cast<const std::uint8_t*>(found->second.GetTensorRawData());
    view.bytes = {data, tensor_size(view.type, view.dims)};
  }
  return view;
}

void LiveValues::drop(const std::string& name) { impl_->values.erase(name); }

void Session::run(LiveValues& live) const {
  try {
    std::vector<const char*> inputs, outputs;
    std::vector<const OrtValue*> given;
    for (const ValueInfo& input : impl_->inputs) {
      const auto found = live.impl_->values.find(input.name);
      if (found == live.impl_->values.end())
        throw Error(ErrorCode::kData, impl_->name, "the sample lacks input '" + input.name + "'");
      inputs.push_back(input.name.c_str());
      given.push_back(found->second);
    }
    for (const ValueInfo& output : impl_->outputs) outputs.push_back(output.name.c_str());
    std::vector<OrtValue*> made(outputs.size(), nullptr);
    Ort::ThrowOnError(Ort::GetApi().Run(impl_->session, nullptr, inputs.data(), given.data(), given.size(),
                                        outputs.data(), outputs.size(), made.data()));
    for (std::size_t i = 0; i < made.size(); ++i)
      live.impl_->values.insert_or_assign(impl_->outputs[i].name, Ort::Value(made[i]));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& exception) {
    throw impl_->run_error(exception);
  }
}

std::string runtime_version() { return ort_library().version; }

}  // namespace octet
