// One job at a time, in a process of its own, told to the client line by line (NDJSON).
#pragma once

#include <httplib.h>

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "octet/error.h"

namespace octet {

// An error's JSON in answers: {"code", "where", "what", "next"}, the code as a name.
nlohmann::json error_answer(const std::string& code, const std::string& where, const std::string& problem,
                            const std::string& next);
nlohmann::json error_answer(const Error& error);

class JobRunner {
 public:
  // Held by whoever runs a job or prepares one; gone, or released, the next may begin.
  class Turn {
   public:
    explicit Turn(std::atomic<bool>& busy) : busy_(busy) {}
    ~Turn() { release(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    void release() {
      if (!std::exchange(released_, true)) busy_ = false;
    }

   private:
    std::atomic<bool>& busy_;
    bool released_ = false;
  };

  struct Job {
    const char* command;  // of this program, hidden
    nlohmann::json question;
    // What becomes of the child's result: the last line.
    std::function<nlohmann::json(nlohmann::json result)> last_line;
    std::vector<std::pair<std::string, std::string>> hidden;  // what messages do not say, and what instead
    std::shared_ptr<const void> held;                         // until the job is over
  };

  bool is_busy() const { return busy_; }
  std::shared_ptr<Turn> take_turn();  // nullptr: another has it
  // Makes the response stream the job. A client that goes away, or `ending`, kills its process.
  void stream(std::shared_ptr<Turn> turn, Job job, std::function<bool()> ending, httplib::Response& response);

 private:
  std::atomic<bool> busy_ = false;
};

}  // namespace octet
