// Where the files of the tests are.
#pragma once

#include <string>

/// The folder tests/ of the sources. A function, not a macro on every command line: what is
/// compiled is then the same in every clone, and ccache knows it.
std::string tests_dir();
