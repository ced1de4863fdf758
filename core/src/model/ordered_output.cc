#include "model/ordered_output.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "kernels/parallel.h"

namespace octet {
namespace {

// Computed tensors, made by threads in the order in which take() asks for them.
class Workshop {
 public:
  Workshop(const TensorStore& store, const std::vector<TensorStore::Id>& ids, unsigned threads)
      : store_(store), jobs_(ids.size()) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      jobs_[i].id = ids[i];
      jobs_[i].size = store.size(ids[i]);
    }
    threads_.reserve(threads);
    for (unsigned i = 0; i < threads; ++i) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        break;  // no more threads to be had; without a single one take() does the work itself
      }
    }
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  ~Workshop() {
    {
      const std::lock_guard lock(mutex_);
      next_ = jobs_.size();
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // The bytes of the next tensor, to be given back with done().
  TensorBytes take() {
    Job& job = jobs_[taken_++];
    if (threads_.empty()) return store_.read(job.id);
    std::unique_lock lock(mutex_);
    made_.wait(lock, [&] { return job.made; });
    if (job.failure) std::rethrow_exception(job.failure);
    return std::exchange(job.bytes, {});
  }

  void done(std::uint64_t size) {
    if (threads_.empty()) return;
    {
      const std::lock_guard lock(mutex_);
      ahead_ -= size;
    }
    room_.notify_all();
  }

 private:
  struct Job {
    TensorStore::Id id = 0;
    std::uint64_t size = 0;
    bool made = false;
    TensorBytes bytes;
    std::exception_ptr failure;
  };

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      // Jobs start in order, so the one that take() waits for is always under way or first to find room.
      room_.wait(lock, [&] { return next_ == jobs_.size() || ahead_ == 0 || ahead_ + jobs_[next_].size <= kAhead; });
      if (next_ == jobs_.size()) return;
      Job& job = jobs_[next_++];
      ahead_ += job.size;
      lock.unlock();
      TensorBytes bytes;
      std::exception_ptr failure;
      try {
        bytes = store_.read(job.id);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      job.bytes = std::move(bytes);
      job.failure = failure;
      job.made = true;
      made_.notify_all();
    }
  }

  const TensorStore& store_;
  std::vector<Job> jobs_;
  std::size_t taken_ = 0;  // by the writing thread alone
  std::mutex mutex_;
  std::condition_variable room_, made_;
  std::size_t next_ = 0;     // first job that has not begun
  std::uint64_t ahead_ = 0;  // bytes begun and not yet written
  std::vector<std::thread> threads_;
};

}  // namespace

void write_in_order(const TensorStore& store, const std::vector<OutputStep>& steps, unsigned threads) {
  std::vector<TensorStore::Id> computed;
  if (threads > 1 && have_threads()) {
    for (const OutputStep& step : steps) {
      if (step.has_tensor && store.computed(step.tensor)) computed.push_back(step.tensor);
    }
  }
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(threads, computed.size()));
  Workshop workshop(store, computed, workers);
  for (const OutputStep& step : steps) {
    if (!step.text.empty()) step.sink->append(step.text);
    if (!step.has_tensor) continue;
    if (workers > 0 && store.computed(step.tensor)) {
      const TensorBytes bytes = workshop.take();
      step.sink->append(bytes.bytes());
      workshop.done(bytes.bytes().size());
    } else {
      store.append_to(step.tensor, *step.sink);
    }
  }
}

}  // namespace octet
