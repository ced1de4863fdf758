# Imported targets, all of them system includes: warnings in them are not ours.
find_package(Threads)

# onnx and protobuf-lite, from the cache folder.
foreach(name protobuf-lite onnx)
  add_library(octet::${name} STATIC IMPORTED)
  set_target_properties(octet::${name} PROPERTIES
    IMPORTED_LOCATION ${OCTET_THIRD_PARTY}/lib/lib${name}.a
    INTERFACE_INCLUDE_DIRECTORIES ${OCTET_THIRD_PARTY}/include)
endforeach()
set_target_properties(octet::onnx PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1;ONNX_USE_LITE_PROTO=1"
  INTERFACE_LINK_LIBRARIES octet::protobuf-lite)

# Header-only packages of the distribution. A cross compiler must not see all of /usr/include, so each folder it
# may see is linked, alone, into the build folder.
function(octet_header_library name)
  add_library(octet::${name} INTERFACE IMPORTED)
  if(CMAKE_CROSSCOMPILING)
    set(root ${CMAKE_BINARY_DIR}/system_include/${name})
    file(MAKE_DIRECTORY ${root})
    foreach(folder ${ARGN})
      file(CREATE_LINK /usr/include/${folder} ${root}/${folder} SYMBOLIC)
    endforeach()
    set_target_properties(octet::${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${root})
  endif()
endfunction()
octet_header_library(json nlohmann)
octet_header_library(hwy hwy)
# A folder of nothing else, so a cross compiler may see it where it is. Few sources take it: octet_pictures().
octet_header_library(stb)
set_target_properties(octet::stb PROPERTIES INTERFACE_INCLUDE_DIRECTORIES /usr/include/stb)
function(octet_pictures)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -isystem /usr/include/stb)
endfunction()

# Dynamic dispatch needs libhwy; where one instruction set is known in advance nothing but headers.
if(OCTET_FLAVOR STREQUAL "native")
  find_library(OCTET_LIBHWY hwy REQUIRED)
  set_target_properties(octet::hwy PROPERTIES
    INTERFACE_LINK_LIBRARIES ${OCTET_LIBHWY} INTERFACE_COMPILE_DEFINITIONS HWY_SHARED_DEFINE)
else()
  set_target_properties(octet::hwy PROPERTIES INTERFACE_COMPILE_DEFINITIONS HWY_COMPILE_ONLY_STATIC)
endif()

if(NOT EMSCRIPTEN)
  # ONNX Runtime: headers only. The library is opened when it is needed, never linked.
  add_library(octet::onnxruntime_headers INTERFACE IMPORTED)
  set_target_properties(octet::onnxruntime_headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${OCTET_ORT_INCLUDE}
    INTERFACE_COMPILE_DEFINITIONS ORT_API_MANUAL_INIT)

  if(OCTET_SYSROOT)
    # Debian's libraries for the other machine, unpacked by scripts/setup; the emulator finds them there too.
    list(APPEND CMAKE_FIND_ROOT_PATH ${OCTET_SYSROOT})
    set(libraries ${OCTET_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
    set(ENV{PKG_CONFIG_SYSROOT_DIR} ${OCTET_SYSROOT})
    set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig)
    add_link_options(LINKER:-rpath-link,${libraries}:${OCTET_SYSROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
    separate_arguments(CMAKE_CROSSCOMPILING_EMULATOR UNIX_COMMAND ${OCTET_EMULATOR})
  endif()
  find_package(fmt REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(OCTET_LIBZIP REQUIRED IMPORTED_TARGET libzip)
  # The definitions the library was built with come along: its classes differ without them.
  pkg_check_modules(OCTET_HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
  if(OCTET_SYSROOT)
    # OpenSSL's settings, which a compiler finds by itself where they are the system's.
    target_include_directories(PkgConfig::OCTET_HTTPLIB INTERFACE
      ${OCTET_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  endif()
  octet_header_library(cli11 CLI)
endif()

if(BUILD_TESTING)
  if(OCTET_FLAVOR STREQUAL "native")
    find_package(GTest REQUIRED)
    add_library(octet_gtest INTERFACE)
    target_link_libraries(octet_gtest INTERFACE GTest::gmock_main GTest::gmock GTest::gtest)
  else()
    # The distribution's library is for this machine only; its sources build anywhere.
    set(gtest /usr/src/googletest)
    add_library(octet_gtest STATIC EXCLUDE_FROM_ALL
      ${gtest}/googletest/src/gtest-all.cc ${gtest}/googlemock/src/gmock-all.cc ${gtest}/googlemock/src/gmock_main.cc)
    target_include_directories(octet_gtest PRIVATE ${gtest}/googletest ${gtest}/googlemock)
    target_include_directories(octet_gtest SYSTEM PUBLIC ${gtest}/googletest/include ${gtest}/googlemock/include)
    if(EMSCRIPTEN)
      target_compile_options(octet_gtest PRIVATE -fwasm-exceptions)
      target_compile_definitions(octet_gtest PUBLIC GTEST_HAS_PTHREAD=0)
    endif()
  endif()
endif()
