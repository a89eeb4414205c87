#include "store.hpp"

#include <CLI/CLI.hpp>

#include "store/commands.hpp"

namespace oneprobe::cli {

void add_store(CLI::App& app) {
  CLI::App* store = app.add_subcommand("store", "page stores: build, get, put, erase, info");
  store->require_subcommand(1);
  describe(*store, "records on disk, one page read per get",
           "A page store keeps records of one size in a file. A summary in memory says which page "
           "holds a key: a get reads one page, and hardly ever one for a key that is not there.",
           "build users.tsv -o users.store --key-bytes 16 --value-bytes 100");
  for (const command* each : {&store_build_command, &store_get_command, &store_put_command,
                              &store_erase_command, &store_info_command})
    add_command(*store, *each);
}

}  // namespace oneprobe::cli
