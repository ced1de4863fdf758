// Threads where there are any; the same results without.
#pragma once

#include <cstddef>
#include <functional>

namespace octet {

// False in a WebAssembly build without threads: everything then runs on the caller.
bool have_threads();

// Calls task(0) … task(count - 1), each once, on up to `threads` threads, the caller among them; returns when all are
// done. After a task throws no new one starts, and the exception of the lowest index is thrown on to the caller.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task);

}  // namespace octet
