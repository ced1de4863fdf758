# Language, warnings and floating-point rules for every target of the project itself.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(EMSCRIPTEN)
  set(CMAKE_POSITION_INDEPENDENT_CODE OFF) # one static module: indirection would only cost size
else()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

option(OCTET_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(OCTET_WERROR "Treat warnings in the project's own code as errors" ON)
option(BUILD_TESTING "Build the tests" ON)

# The optimizer of Emscripten 3.1.6 needs acorn, which Debian keeps apart from a Node that is not its own.
if(EMSCRIPTEN)
  set(node_path NODE_PATH=/usr/share/nodejs)
  set(CMAKE_C_LINKER_LAUNCHER env ${node_path})
  set(CMAKE_CXX_LINKER_LAUNCHER env ${node_path})
endif()

# ccache keeps its data in the cache folder and sees paths relative to the tree, so another clone shares it.
find_program(OCTET_CCACHE ccache)
if(OCTET_CCACHE)
  set(launcher env CCACHE_DIR=${OCTET_CACHE}/ccache CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  if(EMSCRIPTEN)
    # emcc is a script: it calls ccache around the compiler it wraps.
    list(APPEND launcher ${node_path} EM_COMPILER_WRAPPER=${OCTET_CCACHE})
  else()
    list(APPEND launcher ${OCTET_CCACHE})
  endif()
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_library(octet_flags INTERFACE)
target_compile_options(octet_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wundef -Wcast-qual
  $<$<BOOL:${OCTET_WERROR}>:-Werror>
  # One result on every platform: no contraction into fused multiply-add, and never fast-math.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of GCC 12's flow analysis inside the standard library.
  target_compile_options(octet_flags INTERFACE
    -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-maybe-uninitialized
    -Wno-dangling-pointer)
endif()
if(EMSCRIPTEN)
  target_compile_options(octet_flags INTERFACE -msimd128 -fwasm-exceptions)
  target_link_options(octet_flags INTERFACE -fwasm-exceptions)
endif()
if(NOT EMSCRIPTEN)
  # Libraries that a program does not call cost milliseconds each time it starts.
  target_link_options(octet_flags INTERFACE -Wl,--as-needed)
endif()
if(OCTET_SANITIZE)
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_compile_options(octet_flags INTERFACE ${sanitize} -fno-omit-frame-pointer -g1)
  target_link_options(octet_flags INTERFACE ${sanitize})
endif()
