#include "engine/ort_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "octet/error.h"

namespace octet {
namespace {

constexpr const char* kLibraryName = "libonnxruntime.so.1";
#ifdef OCTET_ORT_LIBRARY
constexpr const char* kAdvice = "run scripts/setup, or set OCTET_ORT_LIBRARY to the path of libonnxruntime.so.1";
#else  // in a package
constexpr const char* kAdvice = "unpack the package again, or set OCTET_ORT_LIBRARY to the path of libonnxruntime.so.1";
#endif

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::kRun, "ONNX Runtime", what, kAdvice); }

std::vector<std::string> places_to_look() {
  // A path the user names is meant: falling back to another version in silence would make measurements lie.
  if (const char* chosen = std::getenv("OCTET_ORT_LIBRARY"); chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> places;
  std::error_code ignored;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) {
    places.push_back((executable.parent_path() / kLibraryName).string());
    places.push_back((executable.parent_path().parent_path() / "lib" / kLibraryName).string());
  }
#ifdef OCTET_ORT_LIBRARY
  places.emplace_back(OCTET_ORT_LIBRARY);
#endif
  return places;
}

// The library can send usage data to its makers. Nothing that Octet opens may: it is told before it is loaded, and so
// is every child process.
void forbid_telemetry() { ::setenv("ORT_DISABLE_TELEMETRY", "1", 1); }

OrtLibrary open_library() {
  forbid_telemetry();
  std::vector<std::string> tried;
  for (const std::string& place : places_to_look()) {
    void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* reason = dlerror();
      std::error_code ignored;
      const bool exists = std::filesystem::exists(place, ignored);
      tried.push_back(exists && reason != nullptr ? std::string(reason) : place);
      continue;
    }
    using GetApiBase = const OrtApiBase* (*)();
    const auto get_base = reinterpret_cast<GetApiBase>(dlsym(handle, "OrtGetApiBase"));
    if (get_base == nullptr) fail(place + " is not ONNX Runtime");
    const OrtApiBase* base = get_base();
    const std::string version = base->GetVersionString();
    const OrtApi* api = base->GetApi(ORT_API_VERSION);
    if (api == nullptr) {
      fail(fmt::format("{} is version {}; 1.{} or newer is needed", place, version, ORT_API_VERSION));
    }
    Ort::InitApi(api);
    try {
      return {place, version, new Ort::Env(ORT_LOGGING_LEVEL_FATAL, "octet")};
    } catch (const Ort::Exception& exception) {
      fail(exception.what());
    }
  }
  fail(fmt::format("its library was not found; looked for {}", fmt::join(tried, ", ")));
}

}  // namespace

const OrtLibrary& ort_library() {
  static const OrtLibrary library = open_library();
  return library;
}

}  // namespace octet
