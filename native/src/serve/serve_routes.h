// What octet serve answers to which request.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "serve/guard.h"
#include "serve/job_request.h"
#include "serve/job_runner.h"
#include "serve/loopback_server.h"
#include "serve/serve.h"
#include "serve/uploads.h"

namespace octet {

class ServeRoutes {
 public:
  // `folder` holds what clients send. All of them outlive the server's threads.
  ServeRoutes(const ServeOptions& options, const GuardRules& rules, const std::string& once,
              const std::filesystem::path& folder, LoopbackServer& server);

 private:
  using Request = httplib::Request;
  using Response = httplib::Response;

  bool answer_simple(const Request& request, Response& response);
  void show_page(const Request& request, Response& response) const;
  void open_once(const std::string& word, Response& response);
  void tell_status(Response& response);
  void take_file(const std::string& name, const Request& request, Response& response,
                 const httplib::ContentReader& body);
  void remove_file(const std::string& name, Response& response);
  void begin_job(Route route, const Request& request, Response& response, const httplib::ContentReader& body);
  JobPlaces places() const;

  const ServeOptions& options_;
  const GuardRules rules_;
  const std::string once_;
  std::atomic<bool> opened_ = false;
  Uploads uploads_;
  JobRunner jobs_;
  LoopbackServer& server_;
};

}  // namespace octet
