// The one error type of the core: a code for programs, one line for people.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace octet {

// Each code has one exit status and one sentence; both live in error.cc and in README.md.
enum class ErrorCode {
  kInternal,     // a defect of Octet itself
  kUsage,        // options that contradict each other, or name what does not exist
  kRead,         // a file is missing or cannot be read
  kMalformed,    // the bytes are not a valid ONNX model (or plan, ranges, samples)
  kUnsupported,  // valid, but outside what Octet or its runtime can do
  kWrite,        // an output exists already or cannot be written
  kData,         // samples do not fit the model
  kNonFinite,    // a weight holds NaN or infinity
  kRun,          // the runtime refused to load or to run a model
  kQuality,      // output drift stayed below the floor
  kInterrupted,  // the user stopped the work
};

// Process exit status for a code; stable, documented in README.md.
int exit_status(ErrorCode code);

// Short stable name for programs, e.g. "malformed".
std::string_view code_name(ErrorCode code);

class Error : public std::runtime_error {
 public:
  // `where` names the file, node or tensor (may be empty); `what` says what is wrong; `next` what to do about it.
  // what() joins them into one line, "WHERE: WHAT; NEXT", with control characters made blanks.
  Error(ErrorCode code, std::string where, std::string what, std::string next = {});

  ErrorCode code() const { return code_; }
  const std::string& where() const { return where_; }
  const std::string& problem() const { return problem_; }
  const std::string& next() const { return next_; }

 private:
  ErrorCode code_;
  std::string where_, problem_, next_;
};

}  // namespace octet
