#include "engine/child_json.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <iostream>
#include <iterator>

#include "engine/child_process.h"
#include "engine/measure_json.h"

namespace octet {
namespace {

using nlohmann::json;

// Paths and the runtime's messages need not be UTF-8; JSON must be.
std::string text_of(const json& document) { return document.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string ending(const ChildResult& child, const ChildWords& words, double timeout_seconds) {
  if (child.timed_out) return fmt::format("{} took longer than {:.0f} s", words.work, timeout_seconds);
  if (child.signal == SIGKILL) return fmt::format("{} was killed, most likely for want of memory", words.process);
  if (child.signal != 0) return fmt::format("ONNX Runtime crashed ({})", ::strsignal(child.signal));
  return fmt::format("{} ended with status {}", words.process, child.exit_status);
}

}  // namespace

ChildAnswer ask_child(const char* command, const json& question, const ChildWords& words, double timeout_seconds,
                      const std::filesystem::path& executable) {
  ChildProcess child({command}, text_of(question), executable);
  const ChildResult ended = child.wait(timeout_seconds);
  const json reply = json::parse(ended.output, nullptr, false);
  ChildAnswer answer;
  answer.seconds = ended.seconds;
  answer.peak_bytes = ended.peak_bytes;
  if (ended.timed_out || ended.exit_status != 0 || !reply.is_object()) {
    answer.why_not = ending(ended, words, timeout_seconds);
  } else if (reply.contains("error")) {
    answer.error = error_from_json(reply.at("error"));
  } else {
    answer.result = reply.at("result");
  }
  return answer;
}

int answer_parent(const char* where, const std::function<json(const json&)>& work) {
  json reply;
  try {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    reply["result"] = work(json::parse(input));
  } catch (const Error& error) {
    reply["error"] = error_json(error);
  } catch (const std::exception& exception) {
    reply["error"] = error_json(Error(ErrorCode::kInternal, where, exception.what()));
  }
  std::cout << text_of(reply) << std::flush;
  return std::cout ? 0 : 1;
}

json to_json(const SyntheticOptions& options) {
  return {{"dims", options.dims},
          {"bounds", options.bounds},
          {"fixed", options.fixed},
          {"seed", options.seed},
          {"count", options.count}};
}

SyntheticOptions synthetic_from_json(const json& document) {
  SyntheticOptions options;
  document.at("dims").get_to(options.dims);
  document.at("bounds").get_to(options.bounds);
  document.at("fixed").get_to(options.fixed);
  document.at("seed").get_to(options.seed);
  document.at("count").get_to(options.count);
  return options;
}

}  // namespace octet
