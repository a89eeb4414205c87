// Any bytes as a page store: either one sentence that says what is wrong, or a store that does
// whatever it is asked, within its memory, and can be opened again after it was closed.
//
// Every input is read twice: as it is, and with its checksums made to fit, since otherwise hardly
// any would get past them.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hostile_file.hpp"
#include "oneprobe/detail/io/page_file.hpp"
#include "oneprobe/detail/page_store/log.hpp"
#include "oneprobe/detail/page_store/parameters.hpp"
#include "oneprobe/page_store/page_store.hpp"

namespace {

using namespace oneprobe;
using namespace hostile_file;

using file_bytes = std::vector<std::byte>;

class memory_file final : public page_file {
 public:
  explicit memory_file(std::shared_ptr<file_bytes> bytes) : bytes_(std::move(bytes)) {}

  int read(std::uint64_t begin, std::span<std::byte> out) const noexcept override {
    if (begin > bytes_->size() || out.size() > bytes_->size() - begin) return EIO;
    if (!out.empty()) std::memcpy(out.data(), bytes_->data() + begin, out.size());
    return 0;
  }
  int write(std::uint64_t begin, std::span<const std::byte> bytes) noexcept override {
    require(begin <= bytes_->size() && bytes.size() <= bytes_->size() - begin,
            "a write leaves the file");
    std::memcpy(bytes_->data() + begin, bytes.data(), bytes.size());
    return 0;
  }
  int sync() noexcept override { return 0; }
  std::uint64_t size() const noexcept override { return bytes_->size(); }
  const std::string& name() const noexcept override { return name_; }

 private:
  std::shared_ptr<file_bytes> bytes_;
  std::string name_ = "'any bytes'";
};

/// Entry after entry, as far as their lengths make sense.
void seal_log(std::span<std::byte> log, std::uint64_t chain) {
  while (const auto size = log_reader::claimed_bytes(log, log.size())) {
    const auto covered = log.first(*size - 8);
    chain = detail::chained_checksum(covered, chain);
    byte_writer(log.subspan(*size - 8, 8)).put(chain);
    log = log.subspan(*size);
  }
}

/// As far as there are parts.
void seal_store(file_bytes& bytes) {
  constexpr std::size_t head = page_store_plan::block_bytes;
  if (bytes.size() < head) return;
  const std::span<std::byte> all(bytes);
  seal(all, store_parameters::bytes);
  byte_writer(all.subspan(40, 8)).put(std::uint64_t{0});
  byte_writer(all.subspan(56, 8)).put(checksum_of(all.first(56)));
  const auto parameters = decode_store_head(all.first(head), bytes.size(), "it");
  if (!parameters) return;
  const page_store_plan& plan = parameters->plan;
  const std::uint64_t snapshot =
      checksum_of(all.subspan(page_store_plan::snapshot_begin(), plan.snapshot_bytes()));
  std::uint64_t newest = 0;
  std::uint64_t chain = 0;
  for (const std::uint32_t copy : {0u, 1u}) {
    const auto state = all.subspan(page_store_plan::state_begin(copy), store_state_record::bytes);
    if (number_at<std::uint64_t>(state, 0) != store_state_record::mark) continue;
    byte_writer(state.subspan(24, 8)).put(snapshot);
    const std::uint64_t checksum = checksum_of(state.first(state.size() - 8));
    byte_writer(state.last(8)).put(checksum);
    const auto epoch = number_at<std::uint64_t>(state, 8);
    if (epoch % 2 != copy) continue;  // no reader takes it
    if (epoch > newest) chain = checksum;
    newest = std::max(newest, epoch);
  }
  seal_log(all.subspan(plan.log_begin()), chain);
  for (std::uint64_t page = 0; page < plan.all_pages(); ++page) {
    const auto there = all.subspan(plan.page_begin(page), plan.page_bytes);
    byte_writer(there).put(checksum_of(there.subspan(8)));
  }
}

/// Everything that a store can do; nothing that it answers need be right.
void use(page_store& store) {
  const page_store_plan& plan = store.plan();
  std::vector<std::byte> key(plan.key_bytes);
  std::vector<std::byte> value(plan.value_bytes);
  static_cast<void>(store.verify());
  static_cast<void>(store.for_each([](auto, auto) {}));
  for (std::uint32_t i = 0; i < 40; ++i) {
    key[i % key.size()] = static_cast<std::byte>(i * 7);
    const get_outcome before = store.get(key, value);
    const store_path path = store.explain(key);
    require(path.page_reads <= 1, "a lookup reads more than one page");
    require(path.contains() == (before == get_outcome::found), "the explanation differs");
    if (path.failure) require_sentence(*path.failure);
    if (i % 3 == 0) {
      store.erase(key, acknowledge::at_commit);
    } else {
      const put_outcome outcome = store.put(key, value, acknowledge::at_commit);
      if (outcome == put_outcome::failed)
        require(store.failure().has_value(), "a failure without a word");
      else if (outcome != put_outcome::full)
        require(store.get(key, value) == get_outcome::found, "what was put is not there");
    }
  }
  static_cast<void>(store.commit());
  static_cast<void>(store.checkpoint());
}

void read(const file_bytes& input) {
  const auto bytes = std::make_shared<file_bytes>(input);
  {
    auto store = page_store::open(std::make_unique<memory_file>(bytes), file_access::update);
    if (!store) return require_sentence(store.failure());
    use(*store);
    static_cast<void>(store->close());
  }
  auto again = page_store::open(std::make_unique<memory_file>(bytes), file_access::read);
  if (!again) return require_sentence(again.failure());
  use(*again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  file_bytes input(bytes.begin(), bytes.end());
  read(input);
  seal_store(input);
  read(input);
  return 0;
}
