// Why a static model is as fast as it is, in words, from what was measured and what the runtime made of it.
#pragma once

#include <string>

#include "engine/verify.h"

namespace octet {

// One line with its newline; empty where speed or the runtime's graph was not looked at.
std::string speed_reason(const VerifyResult& verify);

}  // namespace octet
