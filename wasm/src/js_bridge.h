// What the module's calls share: requests read, models loaded and written, failures returned. Bytes are read from
// JavaScript tensor by tensor and written straight into its arrays, so the module's memory holds the largest tensors
// and not the models, and no view of that memory outlives a call.
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "octet/error.h"
#include "octet/model.h"
#include "octet/options.h"
#include "octet/ranges.h"
#include "octet/tensor.h"

namespace octet {

inline double number(std::uint64_t value) { return static_cast<double>(value); }
inline bool is_absent(const emscripten::val& value) { return value.isUndefined() || value.isNull(); }
bool is_function(const emscripten::val& value);
// A number of bytes. Throws Error(kUsage) with `what` for anything else.
std::uint64_t byte_count(const emscripten::val& value, const char* what);
std::string text_or(const emscripten::val& value, const char* fallback);

// Failures come back as { error }; only what a callback throws passes through as it is.
emscripten::val failure(const Error& error);

template <class Work>
emscripten::val guarded(const Work& work) {
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

emscripten::val parsed(const std::string& json);
// A text as it is, anything else as JSON. Throws Error(kUsage) for what has no JSON form.
std::string json_text(const emscripten::val& value, const std::string& where);
emscripten::val array_of(const std::vector<std::string>& names);

// `options` of a request as JSON.
std::string options_text(const emscripten::val& request);
// `options` and `ranges` of a request. What ranges are given for is static mode, where no mode is asked for. Throws
// Error(kUsage) where mode and ranges contradict each other.
struct GivenRequest {
  GivenOptions options;
  std::optional<Ranges> ranges;
};
GivenRequest given_of(const emscripten::val& request);

// `model`, a Uint8Array or an object with `size` and `read(offset, length)`; external data through `open(location)`.
Model load(const emscripten::val& request);

Progress progress_of(const emscripten::val& request, const char* stage);

// { model, external, external_name, model_bytes, external_bytes }, without the bytes where the request has a sink for
// them, and in `total` how many there are.
emscripten::val written(const emscripten::val& request, const Model& model, bool external_data, std::uint64_t& total);

// A copy of what any view of a buffer shows. Throws Error(kUsage) with `where` for what is none.
std::vector<std::uint8_t> to_bytes(const emscripten::val& data, const std::string& where);

// Tensors by name, { type, dims, data }, to and from samples; `data` is any view of a buffer. Bytes are copied both
// ways. Throws Error(kData) naming the tensor for what is none.
emscripten::val from_sample(const Sample& sample);
Tensor to_tensor(const std::string& name, const emscripten::val& fields);
Sample to_sample(const emscripten::val& tensors);

}  // namespace octet
