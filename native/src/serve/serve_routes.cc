#include "serve/serve_routes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "engine/engine.h"
#include "engine/environment.h"
#include "engine/json_text.h"
#include "octet/error.h"
#include "serve/job_child.h"
#include "serve/page_files.h"

namespace octet {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t kDeepest = 64;  // nesting of a JSON document

std::vector<std::string> values_of(const httplib::Request& request, const char* header) {
  std::vector<std::string> values;
  const auto [begin, end] = request.headers.equal_range(header);
  for (auto entry = begin; entry != end; ++entry) values.push_back(entry->second);
  return values;
}

RequestHead head_of(const httplib::Request& request) {
  RequestHead head;
  head.method = request.method;
  head.path = request.path;
  head.hosts = values_of(request, "Host");
  head.origins = values_of(request, "Origin");
  head.tokens = values_of(request, "X-Octet-Token");
  head.lengths = values_of(request, "Content-Length");
  head.chunked = request.has_header("Transfer-Encoding");
  head.encoded = request.has_header("Content-Encoding");
  head.multipart = request.is_multipart_form_data();
  return head;
}

void answer(httplib::Response& response, int status, const json& document) {
  response.status = status;
  response.set_content(json_text(document), "application/json");
}

void answer(httplib::Response& response, const Refusal& refusal) {
  answer(response, refusal.status,
         {{"error", error_answer(refusal.code, refusal.where, refusal.problem, refusal.next)}});
}

void answer(httplib::Response& response, int status, const Error& error) {
  answer(response, status, {{"error", error_answer(error)}});
}

// Of what the library itself refuses.
void fill_in(httplib::Response& response) {
  if (!response.body.empty()) return;
  const char* what = response.status == 414   ? "the address is too long"
                     : response.status == 404 ? "there is nothing here"
                     : response.status >= 500 ? "the request could not be answered"
                                              : "the request is not one that can be read";
  answer(response, response.status, {{"error", error_answer("usage", "request", what, "")}});
}

void add_headers(httplib::Response& response) {
  for (const auto& [name, value] : {std::pair{"Content-Security-Policy", kContentPolicy},
                                    {"Cross-Origin-Opener-Policy", "same-origin"},
                                    {"Cross-Origin-Embedder-Policy", "require-corp"},
                                    {"Cross-Origin-Resource-Policy", "same-origin"},
                                    {"Referrer-Policy", "no-referrer"},
                                    {"X-Content-Type-Options", "nosniff"}})
    response.set_header(name, value);
  if (!response.has_header("Cache-Control")) response.set_header("Cache-Control", "no-store");
}

json folder_json(const std::optional<fs::path>& folder) {
  if (!folder) return nullptr;
  const fs::path named = folder->has_filename() ? *folder : folder->parent_path();
  return {{"description", named.filename().string()}};
}

// An open file, read where the response is.
class OpenFile {
 public:
  explicit OpenFile(const fs::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  std::optional<std::size_t> size() const {
    struct stat facts {};
    if (file_ < 0 || ::fstat(file_, &facts) != 0 || facts.st_size < 0) return std::nullopt;
    return static_cast<std::size_t>(facts.st_size);
  }
  bool send(std::size_t offset, std::size_t length, httplib::DataSink& sink) const {
    std::array<char, 65536> chunk;
    const ssize_t count = ::pread(file_, chunk.data(), std::min(length, chunk.size()), static_cast<off_t>(offset));
    return count > 0 && sink.write(chunk.data(), static_cast<std::size_t>(count));
  }

 private:
  const int file_;
};

std::string whole_body(const httplib::Request& request, const httplib::ContentReader& body) {
  std::string text;
  const bool whole = body([&](const char* data, std::size_t size) {
    text.append(data, size);
    return true;
  });
  if (!whole || text.size() != std::strtoull(request.get_header_value("Content-Length").c_str(), nullptr, 10))
    throw Error(ErrorCode::kRead, "body", "ended early", "send it again");
  return text;
}

json question_in(const std::string& text) {
  if (json_depth(text) > kDeepest)
    throw Error(ErrorCode::kUsage, "body", fmt::format("is nested more than {} deep", kDeepest));
  json question = json::parse(text, nullptr, false);
  if (!question.is_object()) throw Error(ErrorCode::kUsage, "body", "is no JSON object");
  return question;
}

}  // namespace

ServeRoutes::ServeRoutes(const ServeOptions& options, const GuardRules& rules, const std::string& once,
                         const fs::path& folder, LoopbackServer& server)
    : options_(options), rules_(rules), once_(once), uploads_(folder, options.max_bytes), server_(server) {
  server.set_pre_routing_handler([this](const Request& request, Response& response) {
    return answer_simple(request, response) ? httplib::Server::HandlerResponse::Handled
                                            : httplib::Server::HandlerResponse::Unhandled;
  });
  // Whoever asks first is told before the body is sent.
  server.set_expect_100_continue_handler([this](const Request& request, Response& response) {
    const auto admitted = admit(head_of(request), rules_);
    if (const auto* refusal = std::get_if<Refusal>(&admitted)) answer(response, *refusal);
    return response.status == -1 ? 100 : response.status;
  });
  server.set_error_handler(httplib::Server::Handler([](const Request&, Response& response) { fill_in(response); }));
  server.set_exception_handler([](const Request&, Response& response, const std::exception_ptr&) {
    answer(response, 500, Error(ErrorCode::kInternal, "request", "could not be answered"));
  });
  server.set_post_routing_handler([](const Request&, Response& response) { add_headers(response); });

  // Only requests that were admitted come this far.
  const auto with_body = [this](const Request& request, Response& response, const httplib::ContentReader& body) {
    const Admission admitted = std::get<Admission>(admit(head_of(request), rules_));
    if (admitted.route == Route::kFile)
      take_file(admitted.name, request, response, body);
    else
      begin_job(admitted.route, request, response, body);
  };
  server.Put(".*", httplib::Server::HandlerWithContentReader(with_body));
  server.Post(".*", httplib::Server::HandlerWithContentReader(with_body));
}

// Everything without a body to read. False: it is admitted, and has one.
bool ServeRoutes::answer_simple(const Request& request, Response& response) {
  const auto admitted = admit(head_of(request), rules_);
  if (const auto* refusal = std::get_if<Refusal>(&admitted)) {
    answer(response, *refusal);
    return true;
  }
  const auto& [route, name] = std::get<Admission>(admitted);
  switch (route) {
    case Route::kPage:
      show_page(request, response);
      return true;
    case Route::kOpen:
      open_once(name, response);
      return true;
    case Route::kStatus:
      tell_status(response);
      return true;
    case Route::kFile:
      if (request.method != "DELETE") return false;
      remove_file(name, response);
      return true;
    case Route::kBench:
    case Route::kCalibrate:
      break;
  }
  return false;
}

void ServeRoutes::show_page(const Request& request, Response& response) const {
  const auto path = page_file(options_.page, request.path);
  const auto file = path ? std::make_shared<OpenFile>(*path) : nullptr;
  const auto size = file ? file->size() : std::nullopt;
  if (!size) {
    answer(response, {404, "not_found", "address", "there is nothing here", ""});
    return;
  }
  response.set_header("Cache-Control", "no-cache");
  if (*size == 0) {
    response.set_content("", media_type(*path));
    return;
  }
  response.set_content_provider(*size, media_type(*path),
                                [file](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                                  return file->send(offset, length, sink);
                                });
}

void ServeRoutes::open_once(const std::string& word, Response& response) {
  if (!same_secret(word, once_) || opened_.exchange(true)) {
    answer(response, {404, "not_found", "address", "is none that opens the page, or has done so already",
                      "use the one that octet serve printed"});
    return;
  }
  response.status = 303;
  response.set_header("Location", "/#token=" + rules_.token);
}

void ServeRoutes::tell_status(Response& response) {
  const Environment environment = this_environment();
  json status = {{"octet", options_.version},         {"environment", to_json(environment)},
                 {"busy", jobs_.is_busy()},           {"max_bytes", uploads_.max_bytes()},
                 {"threads", environment.cores},      {"calib", folder_json(options_.calib)},
                 {"data", folder_json(options_.data)}};
  try {
    status["runtime"] = runtime_version();
  } catch (const Error& fault) {
    status["runtime"] = nullptr;
    status["runtime_error"] = fault.what();
  }
  answer(response, 200, status);
}

void ServeRoutes::take_file(const std::string& name, const Request& request, Response& response,
                            const httplib::ContentReader& body) {
  const std::uint64_t bytes = std::strtoull(request.get_header_value("Content-Length").c_str(), nullptr, 10);
  std::unique_ptr<Uploads::Incoming> file;
  try {
    file = uploads_.begin(name, bytes);
  } catch (const Error& fault) {
    answer(response, {413, "too_large", fault.where(), fault.problem(), fault.next()});
    return;
  }
  bool stored = true;
  const bool came = body([&](const char* data, std::size_t size) { return stored = file->write({data, size}); });
  if (!stored || (came && !file->commit())) {
    answer(response, 507, Error(ErrorCode::kWrite, name, "cannot be stored", "the disk may be full"));
  } else if (!came) {
    answer(response, 400, Error(ErrorCode::kRead, name, "ended early", "send it again"));
  } else {
    answer(response, 200, {{"name", name}, {"bytes", bytes}});
  }
}

void ServeRoutes::remove_file(const std::string& name, Response& response) {
  if (uploads_.remove(name))
    answer(response, 200, json::object());
  else
    answer(response, {404, "not_found", name, "there is no such file here", ""});
}

JobPlaces ServeRoutes::places() const { return {uploads_.folder(), {}, options_.data, options_.calib}; }

void ServeRoutes::begin_job(Route route, const Request& request, Response& response,
                            const httplib::ContentReader& body) {
  const bool is_bench = route == Route::kBench;
  try {
    json question = question_in(whole_body(request, body));
    if (is_bench)
      bench_job_of(question, places());
    else
      calibrate_job_of(question, places());
    const NamedFiles named = files_named(question, is_bench ? "data" : "calib");
    for (const auto* names : {&named.models, &named.samples}) {
      for (const std::string& name : *names) {
        if (!uploads_.has(name))
          throw Error(ErrorCode::kRead, name, "there is no such file here", "send it first: PUT /api/files/" + name);
      }
    }
    auto turn = jobs_.take_turn();
    if (!turn) {
      answer(response, {409, "busy", "job", "another one is running", "wait for it, or end it where it was begun"});
      return;
    }
    JobRunner::Job job;
    job.command = is_bench ? kBenchCommand : kCalibrateCommand;
    job.hidden = {{uploads_.folder().string() + "/", ""}};
    JobPlaces where = places();
    if (named.gather) {
      const auto folder = uploads_.gather(named.samples);
      where.gathered = *folder;
      job.hidden.emplace_back(folder->string(), "samples");
      job.held = folder;
    }
    job.question = {{"request", std::move(question)}, {"places", to_json(where)}};
    job.last_line = [is_bench, version = options_.version](json result) {
      if (!is_bench) return result;
      result["octet"] = version;
      return json{{"report", std::move(result)}};
    };
    jobs_.stream(
        std::move(turn), std::move(job), [this] { return server_.is_ending(); }, response);
  } catch (const Error& fault) {
    answer(response, fault.code() == ErrorCode::kInternal ? 500 : 400, fault);
  }
}

}  // namespace octet
