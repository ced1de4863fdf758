// The code of the header-only libraries that decode and resize pictures. Only what is read here is compiled in.
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_FAILURE_USERMSG
#define STBI_MAX_DIMENSIONS (1 << 16)
// Sums of filter weights may stray further than it expects before they are normalized: no reason to stop the program.
#define STBIR_ASSERT(condition) static_cast<void>(0)
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb_image.h>
#include <stb_image_resize.h>
