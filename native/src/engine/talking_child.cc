#include "engine/talking_child.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <utility>

#include "engine/json_text.h"
#include "engine/measure_json.h"

namespace octet {
namespace {

using nlohmann::json;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Paths and the runtime's messages need not be UTF-8; JSON must be. A line break in it is always escaped.
std::string line_of(const json& document) { return json_text(document) + "\n"; }

bool wait_for(int socket, short events, double deadline) {
  while (true) {
    const double left = deadline - now();
    if (left <= 0) return false;
    pollfd wanted{socket, events, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::min(left * 1000 + 1, 60'000.0)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

TalkingChild::TalkingChild(const char* command, json greeting, std::filesystem::path executable)
    : command_(command), greeting_(std::move(greeting)), executable_(std::move(executable)) {}

TalkingChild::~TalkingChild() { end(); }

// Returns how it ended, in words.
std::string TalkingChild::end() {
  if (child_.process < 0) return "";
  ::close(std::exchange(child_.socket, -1));
  int status = 0;
  pid_t ended = 0;
  // One that just crashed is gone in a moment; what still runs has nobody to talk to any more.
  for (int wait = 0; wait < 200 && (ended = ::waitpid(child_.process, &status, WNOHANG)) == 0; ++wait) ::usleep(1000);
  const bool killed = ended == 0;
  if (killed) {
    ::kill(child_.process, SIGKILL);
    while (::waitpid(child_.process, &status, 0) < 0 && errno == EINTR) {
    }
  }
  child_.process = -1;
  received_.clear();
  if (killed) return "it took too long";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return "the measuring process was killed, most likely for want of memory";
  if (WIFSIGNALED(status)) return std::string("ONNX Runtime crashed (") + ::strsignal(WTERMSIG(status)) + ")";
  return "the measuring process ended with status " + std::to_string(WEXITSTATUS(status));
}

bool TalkingChild::send(const std::string& line, double deadline) {
  std::size_t sent = 0;
  while (sent < line.size()) {
    if (!wait_for(child_.socket, POLLOUT, deadline)) return false;
    const ssize_t count = ::send(child_.socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count > 0) sent += static_cast<std::size_t>(count);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
  }
  return true;
}

std::optional<std::string> TalkingChild::receive(double deadline) {
  std::array<char, 65536> chunk;
  while (true) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    if (!wait_for(child_.socket, POLLIN, deadline)) return std::nullopt;
    const ssize_t count = ::recv(child_.socket, chunk.data(), chunk.size(), 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return std::nullopt;
    if (count > 0) received_.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

TalkingChild::Answer TalkingChild::ask(const json& question, double timeout_seconds) {
  const double deadline = now() + timeout_seconds;
  std::optional<std::string> line;
  bool sent = true;
  if (child_.process < 0) {
    child_ = start_child({command_}, executable_);
    sent = send(line_of(greeting_), deadline);
  }
  if (sent && send(line_of(question), deadline)) line = receive(deadline);
  const json reply = line ? json::parse(*line, nullptr, false) : json();
  if (!reply.is_object()) return {std::nullopt, end()};
  if (reply.contains("error")) throw error_from_json(reply.at("error"));
  return {reply.at("result"), {}};
}

int answer_lines(const char* where, const std::function<Answerer(const json& greeting)>& start) {
  // Ctrl-C at a terminal reaches the whole group; when to stop is the parent's to say.
  std::signal(SIGINT, SIG_IGN);
  std::string greeting, question;
  if (!std::getline(std::cin, greeting)) return 0;
  Answerer answer;
  while (std::getline(std::cin, question)) {
    json reply;
    try {
      if (!answer) answer = start(json::parse(greeting));
      reply["result"] = answer(json::parse(question));
    } catch (const Error& error) {
      reply["error"] = error_json(error);
    } catch (const std::exception& exception) {
      reply["error"] = error_json(Error(ErrorCode::kInternal, where, exception.what()));
    }
    std::cout << line_of(reply) << std::flush;
    if (!std::cout) return 1;
  }
  return 0;
}

}  // namespace octet
