// The tests' own main: verification, peak memory and the process helper start this program again, as they start octet.
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string_view>

#include "engine/peak_memory.h"
#include "engine/verify.h"

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == octet::kVerifyCommand) return octet::verify_child_main();
  if (command == octet::kMemoryCommand) return octet::memory_child_main();
  if (command == "__echo") {
    std::cout << "heard: " << std::cin.rdbuf() << std::flush;
    return 3;
  }
  if (command == "__die") {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn the signal into an exit status
    std::raise(SIGSEGV);
  }
  if (command == "__sleep") {
    ::sleep(60);
    return 0;
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
