// The built page: a folder of static files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace octet {

// The page that stands beside the program: in the build's folder, or in the package's. Throws Error(kRead) saying how
// to build one.
std::filesystem::path find_page();

// Throws Error(kRead) unless the folder holds a page.
void check_page(const std::filesystem::path& folder);

// The file of an address, "/" being index.html. Nothing for what is no file inside the folder, by whatever links.
std::optional<std::filesystem::path> page_file(const std::filesystem::path& folder, std::string_view address);

const char* media_type(const std::filesystem::path& file);

// The page's own policy (web/index.html), and nobody frames it.
inline constexpr const char* kContentPolicy =
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; style-src "
    "'self'; "
    "img-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace octet
