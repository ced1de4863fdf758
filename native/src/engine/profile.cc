#include "engine/profile.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "data/mapped_file.h"
#include "engine/engine.h"
#include "octet/error.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

// Ctrl-C waits: the runtime chooses the end of the trace's name, and nobody could remove it before it is known.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

// Every file whose name begins so: one, unless the session failed halfway.
std::vector<fs::path> named(const fs::path& prefix) {
  std::vector<fs::path> found;
  std::error_code fault;
  for (const fs::directory_entry& entry : fs::directory_iterator(prefix.parent_path(), fault)) {
    if (entry.path().filename().string().starts_with(prefix.filename().string())) found.push_back(entry.path());
  }
  return found;
}

std::string whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Watched {
  std::optional<ScratchFile> trace;  // goes last: a session that ends writes to it
  std::optional<Session> session;
};

void watch(const fs::path& model, unsigned threads, Watched& watched) {
  const fs::path prefix = scratch_path("octet-profile");
  const SignalsHeld held;
  std::optional<Error> failed;
  try {
    watched.session = Session::from_file(model, {.threads = threads, .profile_prefix = prefix});
  } catch (const Error& error) {
    failed = error;
  }
  for (const fs::path& path : named(prefix)) watched.trace.emplace(path);
  if (failed) throw Error(*failed);
  if (!watched.trace) throw Error(ErrorCode::kRun, model.string(), "the runtime wrote no profile");
}

}  // namespace

Profile profile_model(const fs::path& model, const std::vector<Sample>& samples, const ProfileOptions& options) {
  try {
    Watched watched;
    watch(model, options.threads, watched);
    const auto start = std::chrono::steady_clock::now();
    std::size_t warmup = options.warmup;
    for (std::size_t run = 0; run < options.warmup + options.runs; ++run) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      if (run > 0 && options.seconds > 0 && elapsed.count() > options.seconds) {
        warmup = std::min(warmup, run - 1);  // one that counts there is always
        break;
      }
      watched.session->time_run(samples[run % samples.size()]);
    }
    watched.session->end_profiling();
    return profile_from_trace(whole(watched.trace->path()), warmup);
  } catch (const Error& error) {
    Profile profile;
    profile.why_not = error.problem();
    return profile;
  }
}

nlohmann::json to_json(const Profile& profile) {
  if (!profile.why_not.empty()) return {{"error", profile.why_not}};
  nlohmann::json operators = nlohmann::json::array(), nodes = nlohmann::json::array();
  for (const auto& [op, integers, count, ms, share] : profile.operators)
    operators.push_back({{"op", op}, {"integers", integers}, {"count", count}, {"ms", ms}, {"share", share}});
  for (const auto& [name, op, ms] : profile.nodes) nodes.push_back({{"name", name}, {"op", op}, {"ms", ms}});
  return {{"runs", profile.runs},
          {"run_ms", profile.run_ms},
          {"integer_share", profile.integer_share},
          {"operators", std::move(operators)},
          {"nodes", std::move(nodes)}};
}

}  // namespace octet
