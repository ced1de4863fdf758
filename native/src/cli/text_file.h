// Small files whole: plans, ranges, reports.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "data/mapped_file.h"
#include "octet/image.h"
#include "octet/plan.h"
#include "octet/ranges.h"

namespace octet {

// Appears under its name only when it is complete. Throws Error(kWrite), also when it exists and `force` is false.
void write_text_file(const std::filesystem::path& path, const std::string& text, bool force);

void append_text(OutputFile& file, const std::string& text);

// A report of any kind. Throws Error naming the file, kMalformed where it is no JSON.
nlohmann::json read_report_file(const std::filesystem::path& path);

// What octet calibrate wrote. Throws Error naming the file.
Ranges read_ranges_file(const std::filesystem::path& path);

// A recipe for pictures (octet/image.h). Throws Error naming the file.
ImageOptions read_recipe_file(const std::filesystem::path& path);

// What octet quantize --save-plan wrote. Throws Error naming the file.
Plan read_plan_file(const std::filesystem::path& path);

}  // namespace octet
