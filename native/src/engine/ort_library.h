// The one place that opens ONNX Runtime: found and loaded on first use, so that commands that run nothing never pay for
// it.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <string>

#ifndef ORT_API_MANUAL_INIT
#error "ORT_API_MANUAL_INIT must be defined for the whole target: the library is opened at run time"
#endif

namespace octet {

struct OrtLibrary {
  std::string path;
  std::string version;
  Ort::Env* env;  // lives as long as the process: sessions may be static too
};

// Opens the library on the first call. Throws Error(kRun) when there is none, saying where it was looked for.
const OrtLibrary& ort_library();

}  // namespace octet
