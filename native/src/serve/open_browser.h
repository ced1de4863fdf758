#pragma once

#include <string>

namespace octet {

// Shows an address in the user's browser, where there is a screen and a browser; otherwise does nothing.
void open_browser(const std::string& address);

}  // namespace octet
