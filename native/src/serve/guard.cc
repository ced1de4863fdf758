#include "serve/guard.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "octet/error.h"

namespace octet {
namespace {

constexpr std::string_view kApi = "/api/", kFiles = "/api/files/", kOpening = "/open/";

bool is_own_host(std::string_view host, int port) {
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

// Digits alone, as HTTP has it.
std::optional<std::uint64_t> length_of(std::string_view text) {
  std::uint64_t length = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return length;
}

std::optional<Refusal> refuse_stranger(const RequestHead& head, const GuardRules& rules) {
  if (head.hosts.size() != 1 || !is_own_host(head.hosts[0], rules.port))
    return Refusal{403, "forbidden", "Host", "names another server",
                   fmt::format("use http://127.0.0.1:{}/", rules.port)};
  if (head.origins.size() > 1 || (head.origins.size() == 1 && head.origins[0] != "http://" + head.hosts[0]))
    return Refusal{403, "forbidden", "Origin", "is another site", "use the page that this server shows"};
  return std::nullopt;
}

std::optional<Refusal> refuse_token(const RequestHead& head, const GuardRules& rules) {
  if (head.tokens.size() == 1 && same_secret(head.tokens[0], rules.token)) return std::nullopt;
  return Refusal{401, "unauthorized", "X-Octet-Token", head.tokens.empty() ? "is missing" : "is not that of this start",
                 "open the address that octet serve printed"};
}

std::optional<Refusal> refuse_body(const RequestHead& head, std::uint64_t most) {
  if (head.chunked || head.lengths.empty())
    return Refusal{411, "length_required", "Content-Length", "is missing", "send the body with its length"};
  const auto length = length_of(head.lengths[0]);
  if (head.lengths.size() != 1 || !length) return Refusal{400, "usage", "Content-Length", "is no number of bytes", ""};
  if (head.encoded || head.multipart)
    return Refusal{415, "unsupported", "body", "is compressed or in parts", "send the bytes as they are"};
  if (*length > most)
    return Refusal{413, "too_large", "body", fmt::format("has {} bytes; {} are the limit", *length, most), ""};
  return std::nullopt;
}

// A body where none belongs.
std::optional<Refusal> refuse_any_body(const RequestHead& head) {
  const bool none = !head.chunked && (head.lengths.empty() || (head.lengths.size() == 1 && head.lengths[0] == "0"));
  if (none) return std::nullopt;
  return Refusal{400, "usage", "body", "there is one where none belongs", ""};
}

Refusal wrong_method(const RequestHead& head, std::string_view right) {
  return {405, "usage", head.path, fmt::format("does not take {}", head.method), fmt::format("use {}", right)};
}

bool is_read(const RequestHead& head) { return head.method == "GET" || head.method == "HEAD"; }

std::variant<Admission, Refusal> admit_api(const RequestHead& head, const GuardRules& rules) {
  const std::string_view path = head.path;
  if (path == "/api/status") {
    if (!is_read(head)) return wrong_method(head, "GET");
    if (const auto refusal = refuse_any_body(head)) return *refusal;
    return Admission{Route::kStatus, {}};
  }
  if (path.starts_with(kFiles)) {
    const std::string_view name = path.substr(kFiles.size());
    if (!is_upload_name(name))
      return Refusal{400, "usage", "file name", "is none that can be used here",
                     "use letters, digits, '.', '_' and '-', at most 128, and no dot first"};
    if (head.method != "PUT" && head.method != "DELETE") return wrong_method(head, "PUT or DELETE");
    const auto refusal = head.method == "PUT" ? refuse_body(head, rules.max_upload) : refuse_any_body(head);
    if (refusal) return *refusal;
    return Admission{Route::kFile, std::string(name)};
  }
  if (path == "/api/bench" || path == "/api/calibrate") {
    if (head.method != "POST") return wrong_method(head, "POST");
    if (const auto refusal = refuse_body(head, rules.max_question)) return *refusal;
    return Admission{path == "/api/bench" ? Route::kBench : Route::kCalibrate, {}};
  }
  return Refusal{404, "not_found", "address", "there is nothing here", ""};
}

}  // namespace

std::variant<Admission, Refusal> admit(const RequestHead& head, const GuardRules& rules) {
  if (const auto refusal = refuse_stranger(head, rules)) return *refusal;
  if (head.path.starts_with(kApi)) {
    if (const auto refusal = refuse_token(head, rules)) return *refusal;
    return admit_api(head, rules);
  }
  if (!is_read(head)) return Refusal{405, "usage", "address", "can only be read", "use GET"};
  if (const auto refusal = refuse_any_body(head)) return *refusal;
  if (head.path.starts_with(kOpening)) return Admission{Route::kOpen, head.path.substr(kOpening.size())};
  return Admission{Route::kPage, {}};
}

bool is_upload_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= 128 && name[0] != '.' && name != kServed &&
         std::all_of(name.begin(), name.end(), fits);
}

std::string make_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorCode::kInternal, "token", "the system gives no random numbers");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool same_secret(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference = static_cast<unsigned char>(
        difference | (static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i])));
  return difference == 0;
}

std::size_t json_depth(std::string_view text) {
  std::size_t depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace octet
