#include "serve/page_files.h"

#include <algorithm>
#include <array>
#include <utility>

#include "octet/error.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdvice = "build it with npm --prefix web run build, or name its folder with --page";

constexpr std::array<std::pair<std::string_view, const char*>, 16> kTypes = {{
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".txt", "text/plain; charset=utf-8"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".wasm", "application/wasm"},
    {".zip", "application/zip"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".ico", "image/x-icon"},
    {".webp", "image/webp"},
    {".woff2", "font/woff2"},
}};

bool is_page(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "index.html", ignored);
}

}  // namespace

fs::path find_page() {
  std::error_code fault;
  const fs::path beside = fs::read_symlink("/proc/self/exe", fault).parent_path().parent_path();
  for (const char* place : {"page", "share/octet/page"}) {  // of build/PRESET/octet, of bin/octet
    if (!fault && is_page(beside / place)) return beside / place;
  }
  throw Error(ErrorCode::kRead, "page", "there is none beside this program", kAdvice);
}

void check_page(const fs::path& folder) {
  if (!is_page(folder)) throw Error(ErrorCode::kRead, folder.string(), "holds no index.html", kAdvice);
}

std::optional<fs::path> page_file(const fs::path& folder, std::string_view address) {
  if (!address.starts_with('/') || address.find('\0') != std::string_view::npos) return std::nullopt;
  address.remove_prefix(1);
  const fs::path relative = address.empty() ? fs::path("index.html") : fs::path(address);
  const auto strange = [](const fs::path& part) { return part.empty() || part.native().front() == '.'; };
  if (relative.is_absolute() || std::any_of(relative.begin(), relative.end(), strange)) return std::nullopt;
  std::error_code fault;
  const fs::path root = fs::canonical(folder, fault);
  if (fault) return std::nullopt;
  const fs::path file = fs::canonical(root / relative, fault);
  if (fault || !fs::is_regular_file(file, fault)) return std::nullopt;
  const bool inside = std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end();
  return inside ? std::optional(file) : std::nullopt;
}

const char* media_type(const fs::path& file) {
  const std::string extension = file.extension().string();
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.first == extension; });
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

}  // namespace octet
