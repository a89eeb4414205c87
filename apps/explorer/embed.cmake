# Writes a C++ file with the contents of others:
#
#   cmake -DOUTPUT=FILE -DFILES=PATH|TYPE|FILE,... -P embed.cmake
#
# PATH is what a file is called in the program, TYPE its media type. The bytes become numbers: a string literal may not be
# as long as these files are.

string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(rows "")
set(number 0)
foreach(entry IN LISTS files)
  string(REPLACE "|" ";" parts "${entry}")
  list(GET parts 0 path)
  list(GET parts 1 type)
  list(GET parts 2 file)
  file(READ "${file}" bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char file_${number}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${path}\", \"${type}\", text_of(file_${number}, ${size})},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(
  WRITE "${OUTPUT}"
  "// Written by embed.cmake.
#include \"page_files.hpp\"

namespace oneprobe::explorer {
namespace {

${arrays}
std::string_view text_of(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

const page_file files[] = {
${rows}};

}  // namespace

std::span<const page_file> page_files() { return files; }

}  // namespace oneprobe::explorer
"
)
