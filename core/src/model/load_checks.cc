#include "model/load_checks.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "octet/error.h"
#include "onnx/defs/schema.h"

namespace octet {
namespace {

constexpr int kOldestIr = 3;     // the first with opset imports
constexpr int kOldestOpset = 7;  // below, broadcasting and normalization mean something else

struct Lookalike {
  std::size_t offset;
  std::string_view magic;
  std::string_view what, next;
};

constexpr Lookalike kLookalikes[] = {
    {0, "version https://git-lfs", "this is a Git LFS pointer, not the model itself",
     "fetch the file with: git lfs pull"},
    {0, "<", "this is a text file (HTML or XML), not an ONNX model",
     "the download may have returned an error page: fetch it again"},
    {0, "{", "this is a JSON text, not an ONNX model", "give the .onnx file"},
    {0, "PK\x03\x04", "this is a zip archive (PyTorch checkpoints are too), not an ONNX model",
     "unpack it, or export the model to ONNX"},
    {0, "\x1f\x8b", "this is a gzip archive, not an ONNX model", "unpack it first"},
    {0, "\x89HDF", "this is an HDF5 (Keras) file, not an ONNX model", "export the model to ONNX, e.g. with tf2onnx"},
    {0, "GGUF", "this is a GGUF file, not an ONNX model", "give the ONNX export of the model"},
    {4, "TFL3", "this is a TensorFlow Lite model, not an ONNX model", "export the model to ONNX, e.g. with tf2onnx"},
    {4, "ORTM", "this is a model in ORT format, not in ONNX format", "give the .onnx file that it was made from"},
};

// "" and "ai.onnx" are the same domain.
bool is_default_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

template <class Imports>
void check_not_newer(const Imports& imports, const std::string& name, const std::string& place) {
  const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const auto& import : imports) {
    const auto range = known.find(is_default_domain(import.domain()) ? std::string() : import.domain());
    if (range == known.end() || import.version() <= range->second.second) continue;
    const std::string domain = range->first.empty() ? "" : " of " + range->first;
    throw Error(ErrorCode::kUnsupported, name,
                place + "opset " + std::to_string(import.version()) + domain + " is newer than " +
                    std::to_string(range->second.second) + ", the newest that is known here",
                "re-export with an older opset");
  }
}

}  // namespace

void check_is_protobuf(WireReader& reader) {
  if (reader.size() == 0) {
    throw Error(ErrorCode::kMalformed, reader.name(), "the file is empty", "fetch or export it again");
  }
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(reader.size(), 64));
  const std::string head(reinterpret_cast<const char*>(reader.at(0, length)), length);
  // Text may begin with blanks. A model begins with its IR version, whose tag is none.
  std::size_t blanks = 0;
  while (blanks < length && std::isspace(static_cast<unsigned char>(head[blanks])) != 0) ++blanks;
  for (const Lookalike& other : kLookalikes) {
    const std::size_t start = std::min(length, other.magic.size() == 1 ? blanks : other.offset);
    if (head.compare(start, other.magic.size(), other.magic) == 0) {
      throw Error(ErrorCode::kMalformed, reader.name(), std::string(other.what), std::string(other.next));
    }
  }
}

void check_versions(const onnx::ModelProto& proto, const std::string& name) {
  const std::int64_t ir = proto.ir_version();
  if (!proto.has_ir_version() || ir < 1) {
    throw Error(ErrorCode::kMalformed, name, "the model has no valid IR version", "export it again");
  }
  if (ir < kOldestIr) {
    throw Error(ErrorCode::kUnsupported, name,
                "IR version " + std::to_string(ir) + " is older than " + std::to_string(kOldestIr),
                "export the model again with a current exporter");
  }
  if (ir > onnx::Version::IR_VERSION) {
    throw Error(ErrorCode::kUnsupported, name,
                "IR version " + std::to_string(ir) + " is newer than " + std::to_string(onnx::Version::IR_VERSION) +
                    ", the newest that is known here",
                "export the model for an older IR version");
  }
  std::optional<std::int64_t> opset;
  for (const auto& import : proto.opset_import()) {
    if (!is_default_domain(import.domain())) continue;
    if (opset && *opset != import.version()) {
      throw Error(
          ErrorCode::kMalformed, name,
          "the model imports opset " + std::to_string(*opset) + " and opset " + std::to_string(import.version()));
    }
    opset = import.version();
  }
  if (!opset) {
    throw Error(ErrorCode::kMalformed, name, "the model imports no opset of the ONNX domain",
                "set opset_import when the model is made");
  }
  check_not_newer(proto.opset_import(), name, "");
  for (const auto& function : proto.functions()) {
    check_not_newer(function.opset_import(), name, "function '" + function.name().substr(0, 120) + "': ");
  }
  if (*opset < kOldestOpset) {
    throw Error(ErrorCode::kUnsupported, name, "opset " + std::to_string(*opset),
                "re-export with " + std::to_string(kOldestOpset) + " or newer");
  }
}

}  // namespace octet
