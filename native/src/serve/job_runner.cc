#include "serve/job_runner.h"

#include <utility>

#include "engine/child_json.h"
#include "engine/json_text.h"

namespace octet {
namespace {

using nlohmann::json;

constexpr double kLongestJob = 7 * 86'400;  // seconds; the client ends it when it likes

// Clients know files by their names alone.
void hide(json& value, const std::vector<std::pair<std::string, std::string>>& hidden) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    for (const auto& [place, instead] : hidden) {
      for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += instead.size())
        text.replace(at, place.size(), instead);
    }
  } else if (value.is_structured()) {
    for (json& entry : value) hide(entry, hidden);
  }
}

json last_line_of(const JobRunner::Job& job, ChildAnswer answer) {
  if (answer.error) return {{"error", error_answer(*answer.error)}};
  if (!answer.result) return {{"error", error_answer(Error(ErrorCode::kRun, "job", answer.why_not))}};
  return job.last_line(std::move(*answer.result));
}

}  // namespace

json error_answer(const std::string& code, const std::string& where, const std::string& problem,
                  const std::string& next) {
  return {{"code", code}, {"where", where}, {"what", problem}, {"next", next}};
}

json error_answer(const Error& error) {
  return error_answer(std::string(code_name(error.code())), error.where(), error.problem(), error.next());
}

std::shared_ptr<JobRunner::Turn> JobRunner::take_turn() {
  if (busy_.exchange(true)) return nullptr;
  return std::make_shared<Turn>(busy_);
}

void JobRunner::stream(std::shared_ptr<Turn> turn, Job job, std::function<bool()> ending, httplib::Response& response) {
  const auto run = [turn = std::move(turn), job = std::move(job), ending = std::move(ending)](std::size_t,
                                                                                              httplib::DataSink& sink) {
    const auto say = [&](const json& line) {
      const std::string text = json_text(line) + "\n";
      return sink.write(text.data(), text.size());
    };
    bool heard = true;
    const ChildListener listener{.progress =
                                     [&](const json& news) {
                                       heard = heard && say({{"progress", news}});
                                     },
                                 .wanted = [&] { return heard && !ending() && sink.is_writable(); }};
    json last;
    try {
      ChildAnswer answer = ask_child(job.command, job.question, {"the job", "the process of the job"}, kLongestJob,
                                     "/proc/self/exe", &listener);
      if (answer.unwanted) return false;
      last = last_line_of(job, std::move(answer));
    } catch (const Error& fault) {
      last = {{"error", error_answer(fault)}};
    }
    hide(last, job.hidden);
    turn->release();  // a client that has the last line may ask again
    if (!say(last)) return false;
    sink.done();
    return true;
  };
  response.set_chunked_content_provider("application/x-ndjson", run);
}

}  // namespace octet
