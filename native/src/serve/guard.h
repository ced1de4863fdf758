// What a request must bring before anything of it is looked at further, decided from its first lines alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace octet {

// The first lines of a request: of headers every value, since two of one kind are an attempt to be read twice.
struct RequestHead {
  std::string method, path;
  std::vector<std::string> hosts, origins, tokens, lengths;
  bool chunked = false, encoded = false, multipart = false;
};

struct GuardRules {
  int port = 0;
  std::string token;                                     // of this start
  std::uint64_t max_upload = 0;                          // bytes of one file
  std::uint64_t max_question = std::uint64_t{16} << 20;  // bytes of a JSON document
};

enum class Route { kPage, kOpen, kStatus, kFile, kBench, kCalibrate };

struct Admission {
  Route route = Route::kPage;
  std::string name;  // of the file, or what stands behind /open/
};

struct Refusal {
  int status = 400;
  std::string code, where, problem, next;
};

// Host and Origin must be this server's own, what lies below /api/ needs the token, and bodies a length that is not too
// large.
std::variant<Admission, Refusal> admit(const RequestHead& head, const GuardRules& rules);

// Letters, digits, '.', '_' and '-', at most 128, no dot first; and not "served", which means the --data folder.
bool is_upload_name(std::string_view name);
inline constexpr std::string_view kServed = "served";

// 128 bits of the system's randomness in hexadecimal. Throws Error(kInternal) where it has none.
std::string make_token();

// Takes as long whatever the two have in common.
bool same_secret(std::string_view one, std::string_view other);

// Of brackets outside strings: how deep the text of a JSON document is nested.
std::size_t json_depth(std::string_view text);

}  // namespace octet
