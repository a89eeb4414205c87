#include "store.hpp"

#include "group.hpp"
#include "store/commands.hpp"

namespace oneprobe::cli {
namespace {

const command_group store_group{
    .name = "store",
    .summary = "page stores: build, get, put, erase, info",
    .text = "records on disk, one page read per get",
    .more =
        "A page store keeps records of one size in a file. A summary in memory says which page "
        "holds a key: a get reads one page, and hardly ever one for a key that is not there.",
    .example = "build users.tsv -o users.store --key-bytes 16 --value-bytes 100",
    .commands = {&store_build_command, &store_get_command, &store_put_command, &store_erase_command,
                 &store_info_command},
};

}  // namespace

void add_store(CLI::App& app) { add_group(app, store_group); }

}  // namespace oneprobe::cli
