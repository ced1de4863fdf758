// What the machine has left and what this process took, in bytes; 0 where the system does not say.
#pragma once

#include <cstdint>

namespace octet {

// Memory that can be had without swapping, within the limits of the control group this process runs in.
std::uint64_t available_memory_bytes();

// Most memory this program held at once. Unlike ru_maxrss this leaves out what the process was before exec.
std::uint64_t own_peak_bytes();

}  // namespace octet
