# The libraries and programs. Sources are found by folder, so adding a file needs no edit here; a target whose
# folder holds no source yet is left out.
function(octet_sources variable)
  set(found)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
    list(APPEND found ${files})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

octet_sources(sources core/src)
if(sources)
  add_library(octet_core STATIC ${sources})
  target_include_directories(octet_core PUBLIC ${CMAKE_SOURCE_DIR}/core/include PRIVATE ${CMAKE_SOURCE_DIR}/core/src)
  target_link_libraries(octet_core PUBLIC octet::onnx octet::json octet::hwy PRIVATE octet_flags)
  if(NOT EMSCRIPTEN)
    target_link_libraries(octet_core PUBLIC Threads::Threads)
  endif()
  if(EMSCRIPTEN)
    # Pages download the module, and this is not where its time goes.
    set(cold ${sources})
    list(FILTER cold INCLUDE REGEX "/core/src/(report|search)/|/(image_options|synthetic)[.]cc$")
    set_source_files_properties(${cold} PROPERTIES COMPILE_OPTIONS -Oz)
  endif()
  octet_pictures(core/src/samples/image_file.cc core/src/samples/stb_code.cc)
  if(OCTET_SANITIZE)
    # Shifts of negative numbers inside stb's decoders are what every compiler makes of them.
    set_property(SOURCE ${CMAKE_SOURCE_DIR}/core/src/samples/stb_code.cc APPEND PROPERTY
      COMPILE_OPTIONS -fno-sanitize=undefined)
  endif()
endif()

if(NOT EMSCRIPTEN AND TARGET octet_core)
  octet_sources(sources native/src/engine native/src/data native/src/report native/src/serve)
  if(sources)
    add_library(octet_native STATIC ${sources})
    target_include_directories(octet_native PUBLIC ${CMAKE_SOURCE_DIR}/native/src)
    target_link_libraries(octet_native
      PUBLIC octet_core octet::onnxruntime_headers fmt::fmt PkgConfig::OCTET_LIBZIP octet::stb
             PkgConfig::OCTET_HTTPLIB ${CMAKE_DL_LIBS}
      PRIVATE octet_flags)
    # Where scripts/setup put the library; a copy beside the executable comes first.
    target_compile_definitions(octet_native PRIVATE OCTET_ORT_LIBRARY="${OCTET_ORT_LIBRARY}"
                                                    OCTET_VERSION="${PROJECT_VERSION}")
  endif()
  octet_sources(sources native/src/cli)
  if(sources AND TARGET octet_native)
    add_executable(octet ${sources})
    target_link_libraries(octet PRIVATE octet_native octet::cli11 octet_flags)
    target_compile_definitions(octet PRIVATE OCTET_VERSION="${PROJECT_VERSION}")

    # The program of scripts/package: it looks for libraries beside itself and knows no place of this machine. Its own
    # ort_library.cc, compiled without the path, is linked before the library is searched for one.
    add_executable(octet_packaged EXCLUDE_FROM_ALL
      $<TARGET_OBJECTS:octet> ${CMAKE_SOURCE_DIR}/native/src/engine/ort_library.cc)
    target_link_libraries(octet_packaged PRIVATE octet_native octet::cli11 octet_flags)
    set_target_properties(octet_packaged PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
    # DT_RPATH instead of DT_RUNPATH: it holds as well for what the libraries need in turn.
    target_link_options(octet_packaged PRIVATE -s -Wl,--disable-new-dtags)
  endif()
endif()

# The module, linked twice: for the page as an ES module, and for Node, where 3.1.6 cannot do that.
if(EMSCRIPTEN AND TARGET octet_core AND EXISTS ${CMAKE_SOURCE_DIR}/wasm/src/bindings.cc)
  octet_sources(sources wasm/src)
  add_library(octet_bindings OBJECT ${sources})
  target_link_libraries(octet_bindings PUBLIC octet_core PRIVATE octet_flags)
  target_compile_options(octet_bindings PRIVATE -Oz)
  target_compile_definitions(octet_bindings PRIVATE OCTET_VERSION="${PROJECT_VERSION}")

  # The linker optimizes the whole module again, in one thread: -O2 of the link is the -Os/-O3 mix of its parts.
  set(link_flags -O2 -msimd128 -fwasm-exceptions --bind
    -sMODULARIZE -sEXPORT_NAME=createOctet -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sFILESYSTEM=0
    -sDYNAMIC_EXECUTION=0
    -Wl,--fatal-warnings) # a signature that does not match is a trap when it is called
  function(octet_module target folder suffix)
    add_executable(${target} $<TARGET_OBJECTS:octet_bindings>)
    target_link_libraries(${target} PRIVATE octet_core octet_flags)
    target_link_options(${target} PRIVATE ${link_flags} ${ARGN})
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME octet SUFFIX ${suffix} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  endfunction()
  octet_module(octet_wasm page .mjs -sEXPORT_ES6 -sENVIRONMENT=web,worker)
  octet_module(octet_wasm_node node .js -sENVIRONMENT=node)
endif()
