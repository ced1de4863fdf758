// Whom octet serve lets in, from the first lines of a request.
#include "serve/guard.h"

#include <gmock/gmock.h>

#include <set>

namespace octet {
namespace {

constexpr const char* kToken = "00112233445566778899aabbccddeeff";
const GuardRules kRules{.port = 8642, .token = kToken, .max_upload = 100, .max_question = 50};

RequestHead head(const char* method, const char* path) {
  RequestHead request;
  request.method = method;
  request.path = path;
  request.hosts = {"127.0.0.1:8642"};
  request.tokens = {kToken};
  return request;
}

RequestHead with_body(const char* method, const char* path, const char* length) {
  RequestHead request = head(method, path);
  request.lengths = {length};
  return request;
}

// 0: it is let in.
int status_of(const RequestHead& request) {
  const auto admitted = admit(request, kRules);
  const auto* refusal = std::get_if<Refusal>(&admitted);
  if (refusal == nullptr) return 0;
  EXPECT_FALSE(refusal->code.empty() || refusal->problem.empty());
  return refusal->status;
}

Route route_of(const RequestHead& request) { return std::get<Admission>(admit(request, kRules)).route; }

TEST(ServeGuard, LetsInWhatItKnows) {
  EXPECT_EQ(route_of(head("GET", "/")), Route::kPage);
  EXPECT_EQ(route_of(head("HEAD", "/a/b.js")), Route::kPage);
  EXPECT_EQ(route_of(head("GET", "/open/abc")), Route::kOpen);
  EXPECT_EQ(route_of(head("GET", "/api/status")), Route::kStatus);
  EXPECT_EQ(route_of(with_body("PUT", "/api/files/a.onnx", "100")), Route::kFile);
  EXPECT_EQ(route_of(head("DELETE", "/api/files/a.onnx")), Route::kFile);
  EXPECT_EQ(route_of(with_body("POST", "/api/bench", "50")), Route::kBench);
  EXPECT_EQ(route_of(with_body("POST", "/api/calibrate", "0")), Route::kCalibrate);
  EXPECT_EQ(std::get<Admission>(admit(head("DELETE", "/api/files/a.b-c_d"), kRules)).name, "a.b-c_d");
}

TEST(ServeGuard, ThePageNeedsNoToken) {
  RequestHead request = head("GET", "/");
  request.tokens.clear();
  EXPECT_EQ(status_of(request), 0);
  request.path = "/api/status";
  EXPECT_EQ(status_of(request), 401);
  request.path = "/api/nothing";  // who has no token learns nothing of what there is
  EXPECT_EQ(status_of(request), 401);
}

TEST(ServeGuard, HostAndOriginAreItsOwn) {
  RequestHead request = head("GET", "/");
  request.hosts = {"localhost:8642"};
  request.origins = {"http://localhost:8642"};
  EXPECT_EQ(status_of(request), 0);
  request.origins = {"http://127.0.0.1:8642"};  // that is another origin
  EXPECT_EQ(status_of(request), 403);
  for (const auto& origins :
       {std::vector<std::string>{"null"}, {""}, {"http://localhost:8642", "http://localhost:8642"}}) {
    request.origins = origins;
    EXPECT_EQ(status_of(request), 403);
  }
  request.origins.clear();
  for (const auto& hosts : {std::vector<std::string>{},
                            {"localhost"},
                            {"localhost:86420"},
                            {"evil:8642"},
                            {"localhost:8642", "localhost:8642"}}) {
    request.hosts = hosts;
    EXPECT_EQ(status_of(request), 403);
  }
}

TEST(ServeGuard, TheTokenIsGivenOnce) {
  RequestHead request = head("GET", "/api/status");
  for (const auto& tokens :
       {std::vector<std::string>{}, {""}, {"00112233445566778899aabbccddeefe"}, {kToken, kToken}}) {
    request.tokens = tokens;
    EXPECT_EQ(status_of(request), 401);
  }
}

TEST(ServeGuard, BodiesHaveALengthThatIsNotTooLarge) {
  EXPECT_EQ(status_of(head("PUT", "/api/files/a")), 411);
  EXPECT_EQ(status_of(with_body("PUT", "/api/files/a", "101")), 413);
  EXPECT_EQ(status_of(with_body("POST", "/api/bench", "51")), 413);
  EXPECT_EQ(status_of(with_body("PUT", "/api/files/a", "99999999999999999999")), 400);
  for (const char* length : {"", "-1", "+1", "1 ", "0x1", "1,1"})
    EXPECT_EQ(status_of(with_body("PUT", "/api/files/a", length)), 400) << length;
  RequestHead request = with_body("PUT", "/api/files/a", "1");
  request.lengths.push_back("1");
  EXPECT_EQ(status_of(request), 400);
  request = with_body("PUT", "/api/files/a", "1");
  request.chunked = true;
  EXPECT_EQ(status_of(request), 411);
  request.chunked = false;
  request.encoded = true;
  EXPECT_EQ(status_of(request), 415);
  request.encoded = false;
  request.multipart = true;
  EXPECT_EQ(status_of(request), 415);
  EXPECT_EQ(status_of(with_body("GET", "/", "1")), 400);
  EXPECT_EQ(status_of(with_body("GET", "/", "0")), 0);
  EXPECT_EQ(status_of(with_body("DELETE", "/api/files/a", "1")), 400);
}

TEST(ServeGuard, MethodsAndPlaces) {
  EXPECT_EQ(status_of(with_body("POST", "/", "1")), 405);
  EXPECT_EQ(status_of(head("OPTIONS", "/api/status")), 405);
  EXPECT_EQ(status_of(head("GET", "/api/bench")), 405);
  EXPECT_EQ(status_of(head("GET", "/api/files/a")), 405);
  EXPECT_EQ(status_of(head("GET", "/api/")), 404);
  EXPECT_EQ(status_of(head("GET", "/api/status/")), 404);
  EXPECT_EQ(status_of(head("DELETE", "/api/files/")), 400);
  EXPECT_EQ(status_of(head("DELETE", "/api/files/a/b")), 400);
}

TEST(ServeGuard, NamesOfFiles) {
  for (const std::string name : {"a", "A-b_c.onnx", "0", "-", "model.onnx.data", "served.npz"})
    EXPECT_TRUE(is_upload_name(name)) << name;
  EXPECT_TRUE(is_upload_name(std::string(128, 'x')));
  for (const std::string name : {"", ".", "..", ".a", "a/b", "a\\b", "a b", "a\n", "\xc3\xa4", "served"})
    EXPECT_FALSE(is_upload_name(name)) << name;
  EXPECT_FALSE(is_upload_name(std::string(129, 'x')));
  EXPECT_FALSE(is_upload_name(std::string("a\0b", 3)));
}

TEST(ServeGuard, TokensDifferAndAreCompared) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(make_token());
  EXPECT_EQ(tokens.size(), 100u);
  EXPECT_THAT(*tokens.begin(), testing::SizeIs(32));
  EXPECT_TRUE(same_secret(kToken, kToken));
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_FALSE(same_secret("a", "b"));
  EXPECT_FALSE(same_secret("a", "ab"));
  EXPECT_FALSE(same_secret("", "a"));
}

TEST(ServeGuard, DepthIsThatOfBracketsOutsideStrings) {
  EXPECT_EQ(json_depth(""), 0u);
  EXPECT_EQ(json_depth("1"), 0u);
  EXPECT_EQ(json_depth(R"({"a":[1,[2]],"b":{}})"), 3u);
  EXPECT_EQ(json_depth(R"(["[[[[", "\"[[[", "\\", []])"), 2u);
  EXPECT_EQ(json_depth("]]]]["), 1u);
  EXPECT_EQ(json_depth(std::string(100'000, '[')), 100'000u);
  EXPECT_EQ(json_depth("\"\\"), 0u);
}

}  // namespace
}  // namespace octet
