#include "engine/child_json.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>

#include "engine/child_process.h"
#include "engine/environment.h"
#include "engine/json_text.h"
#include "engine/measure_json.h"

namespace octet {
namespace {

using nlohmann::json;

std::string ending(const ChildResult& child, const ChildWords& words, double timeout_seconds) {
  if (child.timed_out) return fmt::format("{} took longer than {:.0f} s", words.work, timeout_seconds);
  if (child.signal == SIGKILL) return fmt::format("{} was killed, most likely for want of memory", words.process);
  if (child.signal != 0) return fmt::format("ONNX Runtime crashed ({})", ::strsignal(child.signal));
  const bool no_command = !emulator().empty() && std::getenv("OCTET_EMULATOR") == nullptr;
  return fmt::format("{} ended with status {}{}", words.process, child.exit_status,
                     no_command ? "; in an emulator, OCTET_EMULATOR is the command that starts it" : "");
}

// A line each for what is told on the way; what follows the last of them is the reply.
class TellingChild {
 public:
  explicit TellingChild(const ChildListener& listener) : listener_(listener) {}

  bool take(std::string_view output) {
    if (output.empty()) return listener_.wanted();
    text_ += output;
    std::size_t start = 0;
    for (std::size_t end = 0; (end = text_.find('\n', start)) != std::string::npos; start = end + 1) {
      const json line = json::parse(text_.begin() + static_cast<std::ptrdiff_t>(start),
                                    text_.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
      if (line.is_object()) listener_.progress(line);
    }
    text_.erase(0, start);
    return text_.size() <= kLongestReply;
  }

  std::string reply() { return std::move(text_); }

 private:
  static constexpr std::size_t kLongestReply = std::size_t{512} << 20;

  const ChildListener& listener_;
  std::string text_;
};

}  // namespace

ChildAnswer ask_child(const char* command, const json& question, const ChildWords& words, double timeout_seconds,
                      const std::filesystem::path& executable, const ChildListener* listener) {
  ChildProcess child({command}, json_text(question), executable);
  ChildResult ended;
  if (listener != nullptr) {
    TellingChild telling(*listener);
    ended = child.wait(timeout_seconds, [&](std::string_view output) { return telling.take(output); });
    ended.output = telling.reply();
  } else {
    ended = child.wait(timeout_seconds);
  }
  const json reply = json::parse(ended.output, nullptr, false);
  ChildAnswer answer;
  answer.unwanted = ended.unwanted;
  answer.seconds = ended.seconds;
  answer.peak_bytes = ended.peak_bytes;
  if (ended.timed_out || ended.unwanted || ended.exit_status != 0 || !reply.is_object()) {
    answer.why_not = ending(ended, words, timeout_seconds);
  } else if (reply.contains("error")) {
    answer.error = error_from_json(reply.at("error"));
  } else {
    answer.result = reply.at("result");
  }
  return answer;
}

int answer_parent(const char* where, const std::function<json(const json&)>& work) {
  return answer_parent(where, [&](const json& question, const TellParent&) { return work(question); });
}

int answer_parent(const char* where, const std::function<json(const json&, const TellParent&)>& work) {
  json reply;
  try {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    reply["result"] =
        work(json::parse(input), [](const json& news) { std::cout << json_text(news) << "\n"
                                                                  << std::flush; });
  } catch (const Error& error) {
    reply["error"] = error_json(error);
  } catch (const std::exception& exception) {
    reply["error"] = error_json(Error(ErrorCode::kInternal, where, exception.what()));
  }
  std::cout << json_text(reply) << std::flush;
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
