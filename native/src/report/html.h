// One HTML file that stands alone: no script, nothing fetched, styles of its own. Text that comes from models, files
// or machines goes through escaped().
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octet {

// For text and for attributes in double quotes. Control characters become the sign for what cannot be shown.
std::string escaped(std::string_view text);

// Cells are text, escaped here. The first column names its row; the last cell of a row that is short takes the columns
// that are left. A wide table scrolls by itself.
std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

// The whole file; `title` is text, `body` HTML.
std::string html_page(std::string_view title, const std::string& body);

}  // namespace octet
