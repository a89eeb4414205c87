#include "type.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "dump.hpp"
#include "part_limit.hpp"
#include "stored_filter.hpp"

namespace oneprobe::redis {
namespace {

const stored_filter& filter_in(const void* value) {
  return *static_cast<const stored_filter*>(value);
}

const char* as_text(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

/// Calls use(end, bytes) for the payload in pieces.
template <class Use>
void for_each_piece(const stored_filter& filter, Use use) {
  const std::uint64_t all = filter.payload_bytes();
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(all, chunk_bytes)));
  for (std::uint64_t done = 0; done < all;) {
    const auto bytes = std::span(piece).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), all - done)));
    filter.copy_payload(done, bytes);
    done += bytes.size();
    use(done, std::span<const std::byte>(bytes));
  }
}

// ------------------------------------------------------------------------------------- RDB

void save(io* out, void* value) {
  const stored_filter& filter = filter_in(value);
  const std::vector<std::byte> head = filter.head();
  SaveStringBuffer(out, as_text(head), head.size());
  SaveUnsigned(out, filter.payload_bytes());  // less than the head says where chunks are missing
  for_each_piece(filter, [&](std::uint64_t, std::span<const std::byte> bytes) {
    SaveStringBuffer(out, as_text(bytes), bytes.size());
  });
}

/// A string that Redis read; nothing if it could not.
class read_text {
 public:
  explicit read_text(io* in) : text_(LoadStringBuffer(in, &size_)) {
    if (IsIOError(in) != 0) size_ = 0;
  }
  ~read_text() {
    if (text_ != nullptr) Free(text_);
  }
  read_text(const read_text&) = delete;
  read_text& operator=(const read_text&) = delete;
  std::span<const std::byte> bytes() const {
    return text_ == nullptr ? std::span<const std::byte>() : std::as_bytes(std::span(text_, size_));
  }

 private:
  std::size_t size_ = 0;
  char* text_;
};

/// The filter, or a sentence.
std::unique_ptr<stored_filter> read(io* in, std::string& fault) {
  const read_text head(in);
  if (const auto damaged = decode_damage(head.bytes())) {
    if (*damaged && LoadUnsigned(in) == 0) return std::make_unique<stored_filter>(**damaged);
    fault = *damaged ? "a damaged filter must have no payload" : damaged->failure().sentence;
    return nullptr;
  }
  loaded<arriving_filter> begun = arriving_filter::begin(head.bytes());
  if (!begun) {
    fault = begun.failure().sentence;
    return nullptr;
  }
  if (!begun->parts().empty()) state().reads_ours = true;
  const std::uint64_t allowed = part_limit(GetContextFromIO(in)).bytes_to_read();
  if (begun->largest_part_bytes() > allowed) {
    fault = "it needs " + std::to_string(begun->largest_part_bytes()) + " bytes, and " +
            std::to_string(allowed) + " are allowed";
    return nullptr;
  }
  const std::uint64_t all = LoadUnsigned(in);
  if (IsIOError(in) != 0 || all > begun->payload_bytes()) {
    fault = "the payload must have at most " + std::to_string(begun->payload_bytes()) + " bytes";
    return nullptr;
  }
  while (begun->received() < all) {
    const read_text piece(in);
    if (piece.bytes().size() != std::min(all - begun->received(), chunk_bytes)) {
      fault = "the payload is truncated";
      return nullptr;
    }
    begun->append(piece.bytes());
  }
  auto filter = std::make_unique<stored_filter>(*std::move(begun));
  if (filter->arriving()->complete())
    if (auto wrong = filter->finish()) {
      fault = *wrong;
      return nullptr;
    }
  return filter;
}

/// What stands for a filter that a primary sent by RESTORE, or for a copy that it made: Redis would
/// go on without the key. Null where a client gets the error.
stored_filter* damaged_if_followed() noexcept {
  return (GetContextFlags(nullptr) & context_replica) != 0 ? new stored_filter(damage::no_memory)
                                                           : nullptr;
}

/// The same for one that is read. While a server's own files are loaded nothing may be left out,
/// and a RESTORE in the AOF would be: this server ends. A replica that is sent a file asks for it
/// again.
stored_filter* without_memory(io* in) noexcept {
  const int flags = GetContextFlags(nullptr);
  if ((flags & context_loading) == 0) return damaged_if_followed();
  if ((flags & context_replica) != 0) return nullptr;
  LogIOError(in, "warning", "oneprobe: there is not so much memory as a filter needs");
  std::exit(EXIT_FAILURE);
}

/// What read(fault) reads, or null.
template <class Read>
void* load_by(io* in, const char* refused, Read read) {
  std::string fault;
  try {
    if (std::unique_ptr<stored_filter> filter = read(fault)) return filter.release();
  } catch (const std::bad_alloc&) {
    if (stored_filter* damaged = without_memory(in)) return damaged;
    fault = "there is not so much memory";
  }
  LogIOError(in, "warning", "oneprobe: %s: %s", refused, fault.c_str());
  return nullptr;
}

std::unique_ptr<stored_filter> refuse_newer(int version, std::string& fault) {
  fault = "it has a newer format, version " + std::to_string(version);
  return nullptr;
}

void* load(io* in, int version) {
  return load_by(in, "a filter is refused", [&](std::string& fault) {
    return version > type_version ? refuse_newer(version, fault) : read(in, fault);
  });
}

// -------------------------------------------------------------------------- RedisBloom's own RDB

// Versions of it: from which on there is what it names.
constexpr int rdb_with_bits = 1;
constexpr int rdb_with_options = 2;
constexpr int rdb_with_expansion = 4;
constexpr int newest_redisbloom_rdb = 4;
constexpr std::uint32_t expansion_before = 2;

/// Numbers of 32 bits are saved as 64.
std::uint32_t load_short(io* in, bool& fits) {
  const std::uint64_t number = LoadUnsigned(in);
  fits = fits && number <= std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(number);
}

/// One link, and its bits. False with a sentence if that cannot be.
bool read_link(io* in, int version, std::uint64_t allowed, old_link& link,
               std::vector<counted_memory>& bits, std::string& fault) {
  fault = "it is truncated, or its numbers are too large";
  bool fits = true;
  link.elements = LoadUnsigned(in);
  link.error = LoadDouble(in);
  link.item_bits = load_short(in, fits);
  link.bits_per_element = LoadDouble(in);
  if (version >= rdb_with_bits) {
    link.bits = LoadUnsigned(in);
    link.log2_bits = load_short(in, fits);
  } else {
    const double all = static_cast<double>(link.elements) * link.bits_per_element;
    fits = fits && all >= 0 && all < static_cast<double>(filter_plan::most_bits);
    if (fits) link.bits = static_cast<std::uint64_t>(all);
  }
  if (IsIOError(in) != 0 || !fits || link.log2_bits > 63) return false;
  if (link.modulus() / 8 > allowed) {
    fault = "it needs " + std::to_string(link.modulus() / 8) + " bytes, and " +
            std::to_string(allowed) + " are allowed";
    return false;
  }
  std::size_t size = 0;
  char* const text = LoadStringBuffer(in, &size);
  if (text == nullptr) return false;
  bits.emplace_back(text, size);
  link.bytes = size;
  link.items = LoadUnsigned(in);
  return IsIOError(in) == 0;
}

std::unique_ptr<stored_filter> read_redisbloom(io* in, int version, std::string& fault) {
  fault = "it is truncated, or its numbers are too large";
  const std::uint64_t allowed = part_limit(GetContextFromIO(in)).bytes_to_read();
  old_chain chain;
  bool fits = true;
  chain.items = LoadUnsigned(in);
  const std::uint64_t links = LoadUnsigned(in);
  if (version >= rdb_with_options) chain.options = load_short(in, fits);
  chain.set_expansion(version >= rdb_with_expansion ? load_short(in, fits) : expansion_before);
  if (IsIOError(in) != 0 || !fits || links > old_chain::most_links) return nullptr;
  std::vector<counted_memory> bits;
  bits.reserve(static_cast<std::size_t>(links));
  chain.links.reserve(static_cast<std::size_t>(links));
  for (std::uint64_t i = 0; i < links; ++i)
    if (!read_link(in, version, allowed, chain.links.emplace_back(), bits, fault)) return nullptr;
  if (auto wrong = find_fault(chain)) {
    fault = *wrong;
    return nullptr;
  }
  return std::make_unique<stored_filter>(old_parts(std::move(chain), std::move(bits)));
}

void* load_redisbloom(io* in, int version) {
  if (version == redisbloom_type_version) return load(in, type_version);
  return load_by(in,
                 "a filter of RedisBloom is refused, which oneprobe redis import may read from a "
                 "running server",
                 [&](std::string& fault) {
                   return version > newest_redisbloom_rdb ? refuse_newer(version, fault)
                                                          : read_redisbloom(in, version, fault);
                 });
}

// ------------------------------------------------------------------------------------- the rest

void rewrite(io* out, string* name, void* value) {
  const stored_filter& filter = filter_in(value);
  if (filter.damaged() != damage::none)
    return EmitAOF(out, "OP.REPLAY", "scl", name, "DAMAGED",
                   static_cast<long long>(filter.damaged()));
  const std::vector<std::byte> head = filter.head();
  const auto emit = [&](std::uint64_t iterator, std::span<const std::byte> bytes) {
    EmitAOF(out, "OP.LOADCHUNK", "slb", name, static_cast<long long>(iterator), as_text(bytes),
            bytes.size());
  };
  emit(1, head);
  for_each_piece(
      filter, [&](std::uint64_t end, std::span<const std::byte> bytes) { emit(end + 1, bytes); });
}

void add_to_digest(digest* sum, void* value) {
  const stored_filter& filter = filter_in(value);
  const std::vector<std::byte> head = filter.head();
  DigestAddStringBuffer(sum, as_text(head), head.size());
  for_each_piece(filter, [&](std::uint64_t, std::span<const std::byte> bytes) {
    DigestAddStringBuffer(sum, as_text(bytes), bytes.size());
  });
  DigestEndSequence(sum);
}

std::size_t memory_usage(const void* value) { return filter_in(value).counted_bytes(); }

/// A large filter goes to the thread that frees: its pages take time to give back.
std::size_t free_effort(string*, const void* value) {
  constexpr std::size_t page_bytes = 4096;
  return 1 + static_cast<std::size_t>(filter_in(value).payload_bytes()) / page_bytes;
}

void* copy(string*, string*, const void* value) {
  try {
    return filter_in(value).duplicate().release();
  } catch (const std::bad_alloc&) {
    return damaged_if_followed();
  }
}

void free(void* value) { delete static_cast<stored_filter*>(value); }

type_methods methods_with(void* (*load_value)(io*, int version)) {
  type_methods methods;
  methods.rdb_load = load_value;
  methods.rdb_save = save;
  methods.aof_rewrite = rewrite;
  methods.mem_usage = memory_usage;
  methods.digest_value = add_to_digest;
  methods.free = free;
  methods.free_effort = free_effort;
  methods.copy = copy;
  return methods;
}

}  // namespace

data_type* create_type(context* ctx) {
  type_methods methods = methods_with(load);
  return CreateDataType(ctx, type_name, type_version, &methods);
}

data_type* create_redisbloom_type(context* ctx) {
  type_methods methods = methods_with(load_redisbloom);
  return CreateDataType(ctx, redisbloom_type_name, redisbloom_type_version, &methods);
}

}  // namespace oneprobe::redis
