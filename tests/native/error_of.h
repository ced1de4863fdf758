// The message of the Error that some work throws, after its code was checked.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "octet/error.h"

namespace octet {

template <class Work>
std::string error_of(ErrorCode code, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(code_name(error.code()), code_name(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace octet
