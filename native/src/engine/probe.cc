#include "engine/probe.h"

#include "data/mapped_file.h"
#include "engine/engine.h"
#include "octet/error.h"
#include "octet/model.h"

namespace octet {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{512} << 20;

}  // namespace

ProbedValues probe_values(const std::filesystem::path& path, const std::vector<std::string>& values,
                          const Sample& sample) {
  ProbedValues probed;
  if (values.empty()) return probed;
  try {
    Model model = load_model(open_file(path), path.filename().string(), external_beside(path));
    if (model.file_bytes > kMaxBytes) return probed;
    add_outputs(model, values);
    MemorySink sink;
    save_model(model, sink);
    const Session session = Session::from_bytes(sink.bytes(), {.optimize = false});
    for (const auto& [name, tensor] : session.run(sample, values)) probed[name] = {tensor.type, tensor.dims.size()};
  } catch (const Error&) {  // what cannot be seen stays unknown
  }
  return probed;
}

}  // namespace octet
