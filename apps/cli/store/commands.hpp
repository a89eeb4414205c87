// The commands below `oneprobe store`, and what they share.
#pragma once

#include <string>

#include "arguments.hpp"
#include "command.hpp"
#include "filter/key_lines.hpp"
#include "oneprobe/page_store/page_store.hpp"
#include "output.hpp"

namespace oneprobe::cli {

extern const command store_build_command;
extern const command store_get_command;
extern const command store_put_command;
extern const command store_erase_command;
extern const command store_info_command;

/// Opens a store, or says in one line why not.
page_store open_store(const std::string& path, page_store_options options);

/// What a store is, for the reports of build and info.
void add_plan(report& out, const page_store_plan& plan);
void add_counts(report& out, const page_store_counts& counts, const page_store_plan& plan);

}  // namespace oneprobe::cli
