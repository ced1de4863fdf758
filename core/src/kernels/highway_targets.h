// Include first in every Highway file, before hwy/foreach_target.h. Leaves out the targets that cost build time and
// size without paying: what lies before SSE4 or beyond the first AVX-512 changes nothing in these loops, and
// SVE's vectors have no size at compile time, which the fixed lane order of the sums needs; NEON is on every arm64.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
