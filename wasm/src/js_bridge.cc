#include "js_bridge.h"

#include <emscripten/bind.h>
#include <emscripten/emscripten.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "octet/dtype.h"

// Null where the engine has no room: its RangeError would fly past every C++ handler.
EM_JS(emscripten::EM_VAL, new_array, (double size), {
  try {
    return Emval.toHandle(new Uint8Array(size));
  } catch (error) {
    return Emval.toHandle(null);
  }
});

// Null for what has no JSON form, a cycle for example.
EM_JS(emscripten::EM_VAL, stringified, (emscripten::EM_VAL handle), {
  try {
    return Emval.toHandle(JSON.stringify(Emval.toValue(handle)) ?? null);
  } catch (error) {
    return Emval.toHandle(null);
  }
});

namespace octet {
namespace {

using emscripten::typed_memory_view;
using emscripten::val;

// Larger than any size that JavaScript counts exactly.
constexpr double kMostSize = 9007199254740992.0;

// A Uint8Array, or an object with `size` and `read(offset, length)` that returns one (null when it cannot).
class JsSource final : public ByteSource {
 public:
  JsSource(val bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {
    array_ = bytes_.instanceof (val::global("Uint8Array"));
    const val size = is_absent(bytes_) ? bytes_ : bytes_[array_ ? "byteLength" : "size"];
    if (!size.isNumber() || (!array_ && !is_function(bytes_["read"]))) {
      throw Error(ErrorCode::kUsage, name_, "is no Uint8Array, nor an object with size and read(offset, length)");
    }
    size_ = static_cast<std::uint64_t>(size.as<double>());
  }

  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    for (std::size_t at = 0; at < out.size(); at += kPiece)
      read_piece(offset + at, out.subspan(at, std::min(kPiece, out.size() - at)));
  }

 private:
  // What a reader gives is in memory beside the module's; a whole tensor need not be.
  static constexpr std::size_t kPiece = std::size_t{16} << 20;

  void read_piece(std::uint64_t offset, std::span<std::uint8_t> out) const {
    const val part = array_ ? bytes_.call<val>("subarray", number(offset), number(offset + out.size()))
                            : bytes_.call<val>("read", number(offset), number(out.size()));
    if (is_absent(part) || part["byteLength"].as<double>() != number(out.size())) {
      throw Error(ErrorCode::kRead, name_, "cannot be read; it may have moved or changed", "choose the file again");
    }
    val(typed_memory_view(out.size(), out.data())).call<void>("set", part);
  }

  val bytes_;
  std::string name_;
  bool array_ = false;
  std::uint64_t size_ = 0;
};

// How much of the output is written, told now and then and at the end.
class WriteProgress {
 public:
  WriteProgress(Progress tell, std::uint64_t total) : tell_(std::move(tell)), total_(total) {}

  void add(std::uint64_t bytes) {
    done_ += bytes;
    if (!tell_ || (done_ - told_ < kStep && done_ != total_)) return;
    told_ = done_;
    tell_(done_, total_);
  }

 private:
  static constexpr std::uint64_t kStep = std::uint64_t{256} << 10;

  Progress tell_;
  std::uint64_t total_, done_ = 0, told_ = 0;
};

// Where a part of the output goes: a writer of the request, or a Uint8Array of known size, filled from the front.
class JsSink final : public ByteSink {
 public:
  JsSink(const val& request, const char* part, std::uint64_t size, WriteProgress& progress)
      : progress_(progress), size_(size) {
    const val sink = request["sink"];
    if (is_function(sink)) writer_ = sink(std::string(part), number(size));
    if (!is_absent(writer_)) {
      if (is_function(writer_["write"])) return;
      throw Error(ErrorCode::kUsage, "sink", "gives neither null nor an object with write(bytes)");
    }
    bytes_ = val::take_ownership(new_array(number(size)));
    if (bytes_.isNull()) {
      throw Error(ErrorCode::kWrite, "", "no memory for an output of " + std::to_string(size) + " bytes",
                  "write it to a file with sink, or use the command line");
    }
  }

  void append(std::span<const std::uint8_t> bytes) override {
    if (bytes.empty()) return;
    if (bytes.size() > size_ - used_) throw Error(ErrorCode::kInternal, "", "the output is longer than was foreseen");
    const val view(typed_memory_view(bytes.size(), bytes.data()));
    if (is_absent(writer_))
      bytes_.call<void>("set", view, number(used_));
    else
      writer_.call<void>("write", view);
    used_ += bytes.size();
    progress_.add(bytes.size());
  }

  // Undefined where a writer took them.
  const val& bytes() const { return bytes_; }

 private:
  val writer_ = val::undefined(), bytes_ = val::undefined();
  WriteProgress& progress_;
  std::uint64_t size_, used_ = 0;
};

bool is_view(const val& value) { return val::global("ArrayBuffer").call<bool>("isView", value); }

}  // namespace

bool is_function(const val& value) { return value.typeOf().as<std::string>() == "function"; }

std::uint64_t byte_count(const val& value, const char* what) {
  const double count = value.isNumber() ? value.as<double>() : -1;
  if (!(count >= 0 && count < 9e15)) throw Error(ErrorCode::kUsage, what, "must be in bytes");
  return static_cast<std::uint64_t>(count);
}

std::string text_or(const val& value, const char* fallback) {
  return value.isString() ? value.as<std::string>() : fallback;
}

val failure(const Error& error) {
  val fields = val::object();
  fields.set("code", std::string(code_name(error.code())));
  fields.set("where", error.where());
  fields.set("problem", error.problem());
  fields.set("next", error.next());
  fields.set("message", std::string(error.what()));
  fields.set("exit_status", exit_status(error.code()));
  val result = val::object();
  result.set("error", fields);
  return result;
}

val parsed(const std::string& json) { return val::global("JSON").call<val>("parse", json); }

std::string json_text(const val& value, const std::string& where) {
  if (value.isString()) return value.as<std::string>();
  const val text = val::take_ownership(stringified(value.as_handle()));
  if (!text.isString()) throw Error(ErrorCode::kUsage, where, "have no JSON form");
  return text.as<std::string>();
}

val array_of(const std::vector<std::string>& names) {
  val array = val::array();
  for (const auto& name : names) array.call<void>("push", name);
  return array;
}

std::string options_text(const val& request) {
  const val options = request["options"];
  return is_absent(options) ? "{}" : json_text(options, "options");
}

GivenRequest given_of(const val& request) {
  GivenRequest given{options_from_json(options_text(request), Target::kWasm), {}};
  if (const val ranges = request["ranges"]; !is_absent(ranges))
    given.ranges = ranges_from_json(json_text(ranges, "ranges"));
  if (given.options.plan) return given;
  Mode& mode = given.options.plan_options.mode;
  const val options = request["options"];
  if (given.ranges && (is_absent(options) || is_absent(options["mode"]))) mode = Mode::kStatic;
  if (given.ranges && mode != Mode::kStatic)
    throw Error(ErrorCode::kUsage, "ranges", "they are for static mode", "leave the option mode out");
  return given;
}

Model load(const val& request) {
  const std::string name = text_or(request["name"], "model.onnx");
  const val open = request["open"];
  if (!is_function(open)) return load_model(std::make_shared<JsSource>(request["model"], name), name);
  return load_model(std::make_shared<JsSource>(request["model"], name), name,
                    [open](const std::string& location) -> std::shared_ptr<ByteSource> {
                      const val file = open(location);
                      return is_absent(file) ? nullptr : std::make_shared<JsSource>(file, location);
                    });
}

Progress progress_of(const val& request, const char* stage) {
  const val callback = request["progress"];
  if (!is_function(callback)) return {};
  return [callback, stage](std::uint64_t done, std::uint64_t total) {
    callback(std::string(stage), number(done), number(total));
  };
}

val written(const val& request, const Model& model, bool external_data, std::uint64_t& total) {
  SaveOptions save;
  save.external_data = external_data;
  save.external_location = text_or(request["output"], "model.onnx") + ".data";
  const SaveResult sizes = measure_model(model, save);
  total = sizes.model_bytes + sizes.external_bytes;
  WriteProgress progress(progress_of(request, "write"), total);
  JsSink bytes(request, "model", sizes.model_bytes, progress);
  std::optional<JsSink> external;
  if (sizes.external_bytes > 0) external.emplace(request, "external", sizes.external_bytes, progress);
  save_model(
      model, bytes, [&]() -> ByteSink& { return *external; }, save);
  val result = val::object();
  result.set("model_bytes", number(sizes.model_bytes));
  result.set("external_bytes", number(sizes.external_bytes));
  if (!is_absent(bytes.bytes())) result.set("model", bytes.bytes());
  if (external) {
    if (!is_absent(external->bytes())) result.set("external", external->bytes());
    result.set("external_name", save.external_location);
  }
  return result;
}

val from_sample(const Sample& sample) {
  val tensors = val::object();
  for (const auto& [name, tensor] : sample) {
    val dims = val::array();
    for (const std::int64_t dim : tensor.dims) dims.call<void>("push", static_cast<double>(dim));
    val fields = val::object();
    fields.set("type", dtype_name(tensor.type));
    fields.set("dims", dims);
    fields.set("data", val::global("Uint8Array").new_(typed_memory_view(tensor.bytes.size(), tensor.bytes.data())));
    tensors.set(name, fields);
  }
  return tensors;
}

std::vector<std::uint8_t> to_bytes(const val& data, const std::string& where) {
  if (!is_view(data)) throw Error(ErrorCode::kUsage, where, "is not given as bytes", "pass a Uint8Array");
  const val view = val::global("Uint8Array").new_(data["buffer"], data["byteOffset"], data["byteLength"]);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(view["byteLength"].as<double>()));
  if (!bytes.empty()) val(typed_memory_view(bytes.size(), bytes.data())).call<void>("set", view);
  return bytes;
}

Tensor to_tensor(const std::string& name, const val& fields) {
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorCode::kData, "'" + name + "'", problem, "pass { type, dims, data }");
  };
  if (fields.typeOf().as<std::string>() != "object" || fields.isNull()) refuse("is no tensor");
  Tensor tensor;
  tensor.type = dtype_from(text_or(fields["type"], ""));
  const val dims = fields["dims"], data = fields["data"];
  if (!val::global("Array").call<bool>("isArray", dims)) refuse("has no list of dims");
  for (const double dim : emscripten::convertJSArrayToNumberVector<double>(dims)) {
    if (!(dim >= 0 && dim < kMostSize)) refuse("has dims that are no sizes");
    tensor.dims.push_back(static_cast<std::int64_t>(dim));
  }
  if (!is_view(data)) refuse("has no data in a typed array");
  if (number(tensor_size(tensor.type, tensor.dims)) != data["byteLength"].as<double>())
    refuse("its bytes do not fit " + describe(tensor.type, tensor.dims));
  tensor.bytes = to_bytes(data, name);
  return tensor;
}

Sample to_sample(const val& tensors) {
  if (tensors.typeOf().as<std::string>() != "object" || tensors.isNull())
    throw Error(ErrorCode::kData, "sample", "is no object of tensors by name", "pass { NAME: { type, dims, data } }");
  Sample sample;
  const val names = val::global("Object").call<val>("keys", tensors);
  for (const auto& name : emscripten::vecFromJSArray<std::string>(names))
    sample.emplace(name, to_tensor(name, tensors[name]));
  return sample;
}

}  // namespace octet
