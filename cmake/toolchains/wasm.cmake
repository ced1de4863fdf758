# Emscripten: the one in $EMSDK when that is set, else the distribution's.
if(DEFINED ENV{EMSDK})
  set(emscripten $ENV{EMSDK}/upstream/emscripten)
else()
  set(emscripten /usr/share/emscripten)
  # The distribution keeps acorn, which the optimizer of 3.1.6 needs, apart from a Node that is not its own.
  set(ENV{NODE_PATH} /usr/share/nodejs)
endif()
include(${emscripten}/cmake/Modules/Platform/Emscripten.cmake)
