// Any bytes as a table file: either one sentence that says what is wrong, or a table that does
// whatever it is asked and has these very bytes when it is saved again. If its elements were
// verified, it also agrees with a twin from then on. What is recovered from any bytes is without a
// fault.
//
// Every input is read twice: as it is, and with its checksums made to fit, since otherwise hardly
// any would get past them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "hostile_file.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/bounded_set.hpp"
#include "oneprobe/map/file.hpp"

namespace {

using namespace oneprobe;
using namespace hostile_file;

// As in the corpus, which the golden files are.
constexpr std::uint64_t schema = 2008;
using map_of_four =
    bounded_map<std::uint64_t, std::uint64_t, seeded_hash, std::equal_to<>, multilevel, 4>;
using sequential_map_of_three =
    bounded_map<std::uint64_t, std::uint64_t, seeded_hash, std::equal_to<>, sequential, 3>;
using set_of_sixteen = bounded_set<std::uint32_t>;

template <class Table>
std::vector<std::byte> saved(const Table& table) {
  std::vector<std::byte> bytes;
  save_to(table, bytes, {.schema = schema});
  return bytes;
}

template <class Table>
insertion insert(Table& table, typename Table::key_type key) {
  if constexpr (requires { table.insert(key); })
    return table.insert(key).outcome;
  else
    return table.insert(key, key).outcome;
}

/// Everything that a table can do; nothing that it answers need be right.
template <class Table>
void use(Table& table) {
  using key_type = typename Table::key_type;
  std::vector<key_type> keys;
  for (const auto& one : table) keys.push_back(one.key);
  require(keys.size() == table.size(), "iteration and counts differ");
  for (key_type key = 0; key < 40; ++key) keys.push_back(key * key);
  std::vector<const typename Table::value_type*> found(keys.size());
  const Table& asked = table;
  asked.bulk_find(keys, found);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    require(asked.find(keys[i]) == found[i], "one by one and in bulk differ");
    require(asked.explain(keys[i]).contains() == (found[i] != nullptr), "the explanation differs");
  }
  table.stats();
  for (std::size_t i = 0; i < keys.size(); i += 2) table.erase(keys[i]);
  for (key_type key = 100; key < 140; ++key) insert(table, key);
  table.drain(table.plan().overflow_buckets);
  table.sweep(table.plan().buckets(), [](const auto& one) { return one.key % 2 == 0; });
}

/// A table without a fault never errs.
template <class Table>
void use_beside_twin(Table& table) {
  using key_type = typename Table::key_type;
  std::unordered_map<key_type, int> twin;
  for (const auto& one : table) require(++twin[one.key] == 1, "a key is there twice");
  for (key_type i = 0; i < 300; ++i) {
    const key_type key = i * 7919 % 61;
    if (i % 3 == 0) {
      require((table.erase(key) == erase_outcome::erased) == (twin.erase(key) == 1),
              "an element cannot be erased");
    } else {
      const insertion outcome = insert(table, key);
      require((outcome == insertion::present) == twin.contains(key), "an element is lost");
      if (outcome != insertion::full) twin[key] = 1;
    }
    if (i % 16 == 0) table.drain(1);
  }
  require(table.size() == twin.size(), "the counts differ");
  for (const auto& [key, one] : twin) require(table.contains(key), "an element is lost");
  require(load_from<Table>(saved(table), {.schema = schema, .check = table_check::elements})
              .has_value(),
          "what was used cannot be loaded");
}

template <class Table>
void read(std::span<const std::byte> bytes) {
  for (const table_check check :
       {table_check::tags, table_check::checksum, table_check::elements}) {
    auto table = load_from<Table>(bytes, {.schema = schema, .check = check});
    if (!table) {
      require_sentence(table.failure());
      continue;
    }
    if (check >= table_check::checksum)
      require(std::ranges::equal(saved(*table), bytes), "saved again it has other bytes");
    if (check == table_check::elements)
      use_beside_twin(*table);
    else
      use(*table);
  }
  auto recovered = recover_from<Table>(bytes, {.schema = schema});
  if (!recovered) return require_sentence(recovered.failure());
  const auto again =
      load_from<Table>(saved(recovered->table), {.schema = schema, .check = table_check::elements});
  require(again.has_value(), "what was recovered has a fault");
  use_beside_twin(recovered->table);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  seal(sealed, table_parameters::bytes);
  for (const std::span<const std::byte> input : {bytes, std::span<const std::byte>(sealed)}) {
    if (const auto facts = read_table_facts(input); !facts) require_sentence(facts.failure());
    read<map_of_four>(input);
    read<sequential_map_of_three>(input);
    read<set_of_sixteen>(input);
  }
  return 0;
}
