// What the runtime made of a static model, and why it is as fast as it is, in words.
#pragma once

#include <string>

#include "engine/verify.h"

namespace octet {

// Which operators compute in integers. One line with its newline.
std::string integer_line(const IntegerShare& share);

// One line with its newline; empty where speed or the runtime's graph was not looked at.
std::string speed_reason(const VerifyResult& verify);

}  // namespace octet
