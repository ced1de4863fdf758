# Tests are found by folder too. Natively each case is a ctest of its own (label "case"), for whoever looks for one; all
# of them run in shards (label "shard"), since starting a program costs more than most cases. In an emulator there are
# shards alone, and as WebAssembly one test of all.
enable_testing()
include(GoogleTest)

set(OCTET_SANITIZER_ENVIRONMENT
  # The third-party libraries are not instrumented and share containers with code that is.
  ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=1:strict_string_checks=1
  LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/lsan_suppressions.txt:print_suppressions=0
  UBSAN_OPTIONS=print_stacktrace=1)

function(octet_test_program target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE octet_core octet_gtest octet_flags)
  target_include_directories(${target} PRIVATE
    ${CMAKE_SOURCE_DIR}/core/src ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/core)
endfunction()

set(OCTET_NOT_EMULATED
  Benchmark.TimesModelsAgainstTheFirst Benchmark.JudgesByTheThresholdsGiven Benchmark.SaysWhenTimeRanOut
  Verify.MeasuresDriftConsistencyAndTime
  Verify.AChildThatCannotAnswerIsNotVerified Benchmark.MemoryThatCannotBeMeasuredIsAResult
  Nodes/EvaluateRuns.SameBits/*_Reciprocal)

set(OCTET_SHARDS 8)
function(octet_discover target)
  math(EXPR last "${OCTET_SHARDS} - 1")
  set(emulator)
  set(timeout 600)
  if(CMAKE_CROSSCOMPILING)
    # How a test starts children; and not the runtime of this machine, which build/deps/env.sh names.
    set(emulator "OCTET_EMULATOR=${OCTET_EMULATOR}" OCTET_ORT_LIBRARY=${OCTET_ORT_LIBRARY})
    # Left out there: what takes time, what starts this machine's programs as children, and Reciprocal, whose last bit
    # the runtime gets otherwise on ARM.
    list(JOIN OCTET_NOT_EMULATED ":" filter)
    list(APPEND emulator GTEST_FILTER=-${filter})
    set(timeout 1800)
  endif()
  foreach(shard RANGE ${last})
    add_test(NAME ${target}.shard${shard} COMMAND ${target})
    set(environment GTEST_TOTAL_SHARDS=${OCTET_SHARDS} GTEST_SHARD_INDEX=${shard} ${emulator})
    if(OCTET_SANITIZE)
      list(APPEND environment ${OCTET_SANITIZER_ENVIRONMENT})
    endif()
    set_tests_properties(${target}.shard${shard} PROPERTIES
      TIMEOUT ${timeout} LABELS shard ENVIRONMENT "${environment}")
  endforeach()
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(properties TIMEOUT 300 LABELS case)
  if(OCTET_SANITIZE)
    # The list passes through two more scripts before ctest sees it; unescaped, only its first variable arrives.
    list(JOIN OCTET_SANITIZER_ENVIRONMENT "\\\\;" environment)
    list(APPEND properties ENVIRONMENT "${environment}")
  endif()
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

octet_sources(sources tests/core)
octet_pictures(tests/core/samples_pictures_test.cc)
if(sources AND TARGET octet_core)
  octet_test_program(octet_core_tests ${sources})
  if(EMSCRIPTEN)
    set_target_properties(octet_core_tests PROPERTIES SUFFIX .js)
    # The sandbox of the page is not wanted here: tests read their data through Node's own files.
    target_link_options(octet_core_tests PRIVATE
      -O1 -sENVIRONMENT=node -sEXIT_RUNTIME -sNODERAWFS=1 -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB
      --pre-js ${CMAKE_SOURCE_DIR}/cmake/wasm/node_pre.js)
    set_target_properties(octet_core_tests PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/wasm/node_pre.js)
    add_test(NAME octet_core_tests COMMAND ${OCTET_NODE} $<TARGET_FILE:octet_core_tests>)
    set_tests_properties(octet_core_tests PROPERTIES TIMEOUT 900)
  else()
    octet_discover(octet_core_tests)
  endif()
endif()

octet_sources(sources tests/native)
if(sources AND TARGET octet_native)
  octet_test_program(octet_native_tests ${sources})
  target_include_directories(octet_native_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests/native)
  target_link_libraries(octet_native_tests PRIVATE octet_native octet::cli11)
  # Only here: what is compiled with a path of this tree cannot come from the cache of another.
  target_compile_definitions(octet_native_tests PRIVATE OCTET_TESTS_DIR="${CMAKE_SOURCE_DIR}/tests")
  if(TARGET octet)
    add_dependencies(octet_native_tests octet)
    target_compile_definitions(octet_native_tests PRIVATE OCTET_EXECUTABLE="$<TARGET_FILE:octet>")
  endif()
  octet_discover(octet_native_tests)
endif()

# Replays every file under tests/fuzz/corpus, if there is one, and hostile variants made on the way.
octet_sources(sources tests/fuzz)
file(GLOB random_graphs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/native/random_*.cc)
list(APPEND sources ${random_graphs})
if(sources AND TARGET octet_core AND NOT CMAKE_CROSSCOMPILING)
  add_executable(octet_fuzz_replay ${sources})
  target_link_libraries(octet_fuzz_replay PRIVATE octet_core octet_flags)
  target_include_directories(octet_fuzz_replay PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  set(corpus)
  if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus)
    set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus)
  endif()
  add_test(NAME octet_fuzz_replay COMMAND octet_fuzz_replay ${corpus})
  set_tests_properties(octet_fuzz_replay PROPERTIES TIMEOUT 600 LABELS "case;shard")
  if(OCTET_SANITIZE)
    set_tests_properties(octet_fuzz_replay PROPERTIES ENVIRONMENT "${OCTET_SANITIZER_ENVIRONMENT}")
  endif()
endif()

# Benchmarks are built on request: ninja octet_bench
octet_sources(sources tests/bench)
if(sources AND TARGET octet_core AND OCTET_FLAVOR STREQUAL "native")
  find_package(benchmark REQUIRED)
  add_executable(octet_bench EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(octet_bench PRIVATE octet_core benchmark::benchmark benchmark::benchmark_main octet_flags)
  target_include_directories(octet_bench PRIVATE ${CMAKE_SOURCE_DIR}/core/src ${CMAKE_SOURCE_DIR}/tests)
endif()
