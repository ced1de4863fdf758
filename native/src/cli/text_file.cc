#include "cli/text_file.h"

#include "octet/error.h"

namespace octet {

void append_text(OutputFile& file, const std::string& text) {
  file.append({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void write_text_file(const std::filesystem::path& path, const std::string& text, bool force) {
  OutputFile file(path, force);
  append_text(file, text);
  file.commit();
}

namespace {

// What is said of a file's content names the file too.
template <class Parse>
auto parse_file(const std::filesystem::path& path, Parse&& parse) {
  try {
    return parse(read_text_file(path));
  } catch (const Error& fault) {
    if (fault.code() == ErrorCode::kRead) throw;
    const std::string place = fault.where().empty() ? "" : fault.where() + ": ";
    throw Error(fault.code(), path.string(), place + fault.problem(), fault.next());
  }
}

}  // namespace

nlohmann::json read_report_file(const std::filesystem::path& path) {
  nlohmann::json document = nlohmann::json::parse(read_text_file(path), nullptr, false);
  if (document.is_discarded())
    throw Error(ErrorCode::kMalformed, path.string(), "is no JSON",
                "give a report that octet bench --json, octet quantize --json or the page wrote");
  return document;
}

Ranges read_ranges_file(const std::filesystem::path& path) { return parse_file(path, ranges_from_json); }

ImageOptions read_recipe_file(const std::filesystem::path& path) { return parse_file(path, image_options_from_json); }

Plan read_plan_file(const std::filesystem::path& path) { return parse_file(path, plan_from_json); }

}  // namespace octet
