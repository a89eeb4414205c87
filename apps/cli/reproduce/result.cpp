#include "reproduce/result.hpp"

namespace oneprobe::cli {

std::string_view name_of(effort how_much) {
  switch (how_much) {
    case effort::quick:
      return "quick";
    case effort::normal:
      return "normal";
    case effort::full:
      break;
  }
  return "full";
}

}  // namespace oneprobe::cli
