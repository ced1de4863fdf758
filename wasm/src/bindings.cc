// The module's whole interface: a few coarse calls that take a request object and return a plain object. Bytes are read
// from JavaScript tensor by tensor and written straight into its arrays, so the module's memory holds the largest
// tensors and not the models, and no view of that memory outlives a call. Failures come back as { error }; only what a
// callback throws passes through as it is.
#include <emscripten/bind.h>
#include <emscripten/emscripten.h>
#include <malloc.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octet/dtype.h"
#include "octet/error.h"
#include "octet/options.h"
#include "octet/report.h"
#include "octet/synthetic.h"

// Null where the engine has no room: its RangeError would fly past every C++ handler.
EM_JS(emscripten::EM_VAL, new_array, (double size), {
  try {
    return Emval.toHandle(new Uint8Array(size));
  } catch (error) {
    return Emval.toHandle(null);
  }
});

namespace octet {
namespace {

using emscripten::typed_memory_view;
using emscripten::val;

double number(std::uint64_t value) { return static_cast<double>(value); }
bool is_absent(const val& value) { return value.isUndefined() || value.isNull(); }
bool is_function(const val& value) { return value.typeOf().as<std::string>() == "function"; }

std::string text_or(const val& value, const char* fallback) {
  return value.isString() ? value.as<std::string>() : fallback;
}

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
    if (out.empty()) return;
    const val part = array_ ? bytes_.call<val>("subarray", number(offset), number(offset + out.size()))
                            : bytes_.call<val>("read", number(offset), number(out.size()));
    if (is_absent(part) || part["byteLength"].as<double>() != number(out.size())) {
      throw Error(ErrorCode::kRead, name_, "cannot be read; it may have moved or changed", "choose the file again");
    }
    val(typed_memory_view(out.size(), out.data())).call<void>("set", part);
  }

 private:
  val bytes_;
  std::string name_;
  bool array_ = false;
  std::uint64_t size_ = 0;
};

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

template <class Work>
val guarded(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    return failure(error);
  } catch (const std::bad_alloc&) {
    const char* problem = "the model does not fit the memory of a page";
    return failure(Error(ErrorCode::kUnsupported, "", problem, "use the command line"));
  } catch (const std::exception& fault) {
    return failure(Error(ErrorCode::kInternal, "", fault.what()));
  }
}

val parsed(const std::string& json) { return val::global("JSON").call<val>("parse", json); }

std::string options_text(const val& request) {
  const val options = request["options"];
  if (is_absent(options)) return "{}";
  const val text = val::global("JSON").call<val>("stringify", options);
  return text.isString() ? text.as<std::string>() : std::string();
}

GivenOptions options_of(const val& request) { return options_from_json(options_text(request), Target::kWasm); }

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

// A Uint8Array of known size, filled from the front.
class JsSink final : public ByteSink {
 public:
  JsSink(std::uint64_t size, WriteProgress& progress)
      : bytes_(val::take_ownership(new_array(number(size)))), progress_(progress), size_(size) {
    if (bytes_.isNull()) {
      throw Error(ErrorCode::kWrite, "", "no memory for an output of " + std::to_string(size) + " bytes");
    }
  }

  void append(std::span<const std::uint8_t> bytes) override {
    if (bytes.empty()) return;
    if (bytes.size() > size_ - used_) throw Error(ErrorCode::kInternal, "", "the output is longer than was foreseen");
    bytes_.call<void>("set", val(typed_memory_view(bytes.size(), bytes.data())), number(used_));
    used_ += bytes.size();
    progress_.add(bytes.size());
  }

  const val& bytes() const { return bytes_; }

 private:
  val bytes_;
  WriteProgress& progress_;
  std::uint64_t size_, used_ = 0;
};

// { model, external, external_name } and how many bytes that is.
val written(const val& request, const Model& model, bool external_data, std::uint64_t& total) {
  SaveOptions save;
  save.external_data = external_data;
  save.external_location = text_or(request["output"], "model.onnx") + ".data";
  const SaveResult sizes = measure_model(model, save);
  total = sizes.model_bytes + sizes.external_bytes;
  WriteProgress progress(progress_of(request, "write"), total);
  JsSink bytes(sizes.model_bytes, progress), external(sizes.external_bytes, progress);
  save_model(
      model, bytes, [&]() -> ByteSink& { return external; }, save);
  val result = val::object();
  result.set("model", bytes.bytes());
  if (sizes.external_bytes > 0) {
    result.set("external", external.bytes());
    result.set("external_name", save.external_location);
  }
  return result;
}

val quantize_model(val request) {
  return guarded([&] {
    const GivenOptions given = options_of(request);
    Quantizer quantizer(load(request), given.plan_options, given.plan ? &*given.plan : nullptr,
                        progress_of(request, "plan"));
    std::uint64_t total = 0;
    val result = written(request, quantizer.apply(quantizer.plan()), given.external_data, total);
    result.set("report", parsed(quantizer_report_json(quantizer, total)));
    return result;
  });
}

val prepare_model(val request) {
  return guarded([&] {
    const PrepareOptions options = prepare_options_from_json(options_text(request));
    Model model = load(request);
    const ModelFacts before = facts_of(model);
    const auto passes = prepare(model, options);
    std::uint64_t total = 0;
    val result = written(request, model, false, total);
    result.set("report", parsed(preparation_json(before, facts_of(model), total, passes, cover_shapes(model))));
    return result;
  });
}

val inspect_model(val request) {
  return guarded([&] {
    const GivenOptions given = options_of(request);
    Quantizer quantizer(load(request), given.plan_options, given.plan ? &*given.plan : nullptr,
                        progress_of(request, "plan"));
    val result = val::object();
    result.set("report", parsed(quantizer_report_json(quantizer)));
    return result;
  });
}

// Tensors by name, { type, dims, data }, to and from samples. Bytes are copied both ways.
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

Sample to_sample(const val& tensors) {
  Sample sample;
  const val names = val::global("Object").call<val>("keys", tensors);
  for (const auto& name : emscripten::vecFromJSArray<std::string>(names)) {
    const val fields = tensors[name];
    Tensor tensor;
    tensor.type = dtype_from(text_or(fields["type"], ""));
    for (const double dim : emscripten::convertJSArrayToNumberVector<double>(fields["dims"])) {
      tensor.dims.push_back(static_cast<std::int64_t>(dim));
    }
    tensor.bytes = emscripten::convertJSArrayToNumberVector<std::uint8_t>(fields["data"]);
    if (tensor.bytes.size() != tensor_size(tensor.type, tensor.dims)) {
      throw Error(ErrorCode::kData, "'" + name + "'", "its bytes do not fit " + describe(tensor.type, tensor.dims));
    }
    sample.emplace(name, std::move(tensor));
  }
  return sample;
}

val make_samples(val request) {
  return guarded([&] {
    Model model = load(request);
    SyntheticOptions options;
    options.bounds = facts_of(model).index_bounds;
    if (request["count"].isNumber()) options.count = static_cast<std::size_t>(request["count"].as<double>());
    if (request["seed"].isNumber()) options.seed = static_cast<std::uint64_t>(request["seed"].as<double>());
    std::optional<std::int64_t> free_size;
    const val size = request["free_size"];
    if (size.isNumber()) free_size = static_cast<std::int64_t>(size.as<double>());
    const std::vector<ValueInfo> inputs = inputs_of(model);
    const SyntheticInputs made(inputs, options, free_size);

    val samples = val::array(), sizes = val::array();
    for (std::size_t i = 0; i < made.count(); ++i) samples.call<void>("push", from_sample(made.sample(i)));
    for (const auto& other : sizes_to_try(inputs, options)) {
      if (other) sizes.call<void>("push", static_cast<double>(*other));
    }
    val result = val::object();
    result.set("samples", samples);
    result.set("description", made.description());
    result.set("sizes_to_try", sizes);
    return result;
  });
}

val judge_runs(val request) {
  return guarded([&] {
    DriftMeter meter;
    const val runs = request["runs"];
    for (unsigned i = 0, count = runs["length"].as<unsigned>(); i < count; ++i) {
      meter.add(to_sample(runs[i]["reference"]), to_sample(runs[i]["candidate"]));
    }
    const auto reference = emscripten::convertJSArrayToNumberVector<double>(request["reference_ms"]);
    const auto candidate = emscripten::convertJSArrayToNumberVector<double>(request["candidate_ms"]);
    VerdictInput input;
    input.float_bytes = static_cast<std::uint64_t>(request["input_bytes"].as<double>());
    input.output_bytes = static_cast<std::uint64_t>(request["output_bytes"].as<double>());
    input.synthetic = request["synthetic"].as<bool>();
    input.sqnr_db = meter.worst_sqnr_db();
    val result = val::object();
    result.set("drift", parsed(drift_to_json(meter.result())));
    result.set("worst_sqnr_db", meter.worst_sqnr_db());
    if (!reference.empty() && !candidate.empty()) {
      input.speedup = paired_speedup(reference, candidate);
      val latency = val::object();
      latency.set("baseline", parsed(latency_to_json(latency_stats(reference))));
      latency.set("candidate", parsed(latency_to_json(latency_stats(candidate))));
      latency.set("speedup", parsed(speedup_to_json(*input.speedup)));
      result.set("latency", latency);
    }
    result.set("verdict", parsed(verdict_to_json(judge(input))));
    return result;
  });
}

std::string version() { return OCTET_VERSION; }

// What the module holds right now; the same before and after a call.
double allocated_bytes() { return number(mallinfo().uordblks); }

}  // namespace
}  // namespace octet

EMSCRIPTEN_BINDINGS(octet) {
  emscripten::function("quantize_model", &octet::quantize_model);
  emscripten::function("prepare_model", &octet::prepare_model);
  emscripten::function("inspect_model", &octet::inspect_model);
  emscripten::function("make_samples", &octet::make_samples);
  emscripten::function("judge_runs", &octet::judge_runs);
  emscripten::function("version", &octet::version);
  emscripten::function("allocated_bytes", &octet::allocated_bytes);
}
