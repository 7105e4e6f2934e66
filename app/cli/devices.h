// Which processors are there: this machine's CPU, and the GPUs that the program could use.
#pragma once

#include <string>

namespace tilewalk {

std::string devices_text();
/// Schema tilewalk-devices-1; "cuda" holds the devices or the reason why there are none.
std::string devices_json();

}  // namespace tilewalk
