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
  read_text(read_text&& other) noexcept
      : size_(other.size_), text_(std::exchange(other.text_, nullptr)) {}
  read_text& operator=(read_text&&) = delete;
  std::span<const std::byte> bytes() const {
    return text_ == nullptr ? std::span<const std::byte>() : std::as_bytes(std::span(text_, size_));
  }

 private:
  std::size_t size_ = 0;
  char* text_;
};

/// A value of ours in the order that it is read in.
class own_value {
 public:
  explicit own_value(io* in) noexcept : in_(in) {}
  read_text head() {
    has_begun_ = true;
    return read_text(in_);
  }
  std::uint64_t payload_bytes() {
    all_ = LoadUnsigned(in_);
    return *all_;
  }
  read_text piece() {
    read_text text(in_);
    done_ += text.bytes().size();
    return text;
  }
  /// What was not read yet. Redis refuses a value of which something is left.
  void skip() {
    if (!has_begun_) head();
    if (!all_) payload_bytes();
    while (IsIOError(in_) == 0 && done_ < *all_)
      if (piece().bytes().empty()) return;
  }

 private:
  io* in_;
  bool has_begun_ = false;
  std::optional<std::uint64_t> all_{};
  std::uint64_t done_ = 0;
};

/// Why a value is no filter.
struct load_fault {
  std::string sentence{};
  bool is_newer = false;  // than this module: another one may read it

  load_fault& operator=(std::string text) {
    sentence = std::move(text);
    return *this;
  }
  load_fault& operator=(const load_failure& failure) {
    sentence = failure.sentence;
    is_newer = failure.error == load_error::newer_format;
    return *this;
  }
};

/// The filter, or a fault.
std::unique_ptr<stored_filter> read(io* in, own_value& value, load_fault& fault) {
  const read_text head = value.head();
  if (const auto damaged = decode_damage(head.bytes())) {
    if (*damaged && value.payload_bytes() == 0) return std::make_unique<stored_filter>(**damaged);
    if (*damaged)
      fault = "a damaged filter must have no payload";
    else
      fault = damaged->failure();
    return nullptr;
  }
  loaded<arriving_filter> begun = arriving_filter::begin(head.bytes());
  if (!begun) {
    fault = begun.failure();
    return nullptr;
  }
  if (!begun->parts().empty()) state().reads_ours = true;
  const std::uint64_t allowed = part_limit(GetContextFromIO(in)).bytes_to_read();
  if (begun->largest_part_bytes() > allowed) {
    fault = "it needs " + std::to_string(begun->largest_part_bytes()) + " bytes, and " +
            std::to_string(allowed) + " are allowed";
    return nullptr;
  }
  const std::uint64_t all = value.payload_bytes();
  if (IsIOError(in) != 0 || all > begun->payload_bytes()) {
    fault = "the payload must have at most " + std::to_string(begun->payload_bytes()) + " bytes";
    return nullptr;
  }
  while (begun->received() < all) {
    const read_text piece = value.piece();
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

/// Whether what a command makes is to be there in any case: it came from a primary, or is in the
/// AOF, and Redis would go on without the key. What cannot be read of an RDB file ends a server,
/// and a replica that is sent a file asks for it again.
bool must_follow() noexcept {
  if (state().loads_aof) return true;
  const int flags = GetContextFlags(nullptr);
  return (flags & context_replica) != 0 && (flags & context_loading) == 0;
}

/// What read(value, fault) reads, or null; where that must be followed, a damaged filter.
template <class Value, class Read>
void* load_by(io* in, Value value, const char* refused, Read read) {
  load_fault fault;
  damage what = damage::bad_bytes;
  try {
    if (std::unique_ptr<stored_filter> filter = read(value, fault)) return filter.release();
  } catch (const std::bad_alloc&) {
    fault = "there is not so much memory";
    what = damage::no_memory;
  }
  LogIOError(in, "warning", "oneprobe: %s: %s", refused, fault.sentence.c_str());
  const int flags = GetContextFlags(nullptr);
  // Nothing of a server's own files may be left out.
  if (what == damage::no_memory && (flags & context_loading) != 0 && (flags & context_replica) == 0)
    std::exit(EXIT_FAILURE);
  const bool is_for_another = fault.is_newer && (flags & context_loading) != 0;
  if (!must_follow() || is_for_another) return nullptr;
  value.skip();
  return IsIOError(in) == 0 ? new stored_filter(what) : nullptr;
}

std::unique_ptr<stored_filter> refuse_newer(int version, load_fault& fault) {
  fault = load_failure{load_error::newer_format,
                       "it has a newer format, version " + std::to_string(version)};
  return nullptr;
}

void* load(io* in, int version) {
  return load_by(
      in, own_value(in), "a filter is refused", [&](own_value& value, load_fault& fault) {
        return version > type_version ? refuse_newer(version, fault) : read(in, value, fault);
      });
}

// -------------------------------------------------------------------------- RedisBloom's own RDB

// Versions of it: from which on there is what it names.
constexpr int rdb_with_bits = 1;
constexpr int rdb_with_options = 2;
constexpr int rdb_with_expansion = 4;
constexpr int newest_redisbloom_rdb = 4;
constexpr std::uint32_t expansion_before = 2;
constexpr const char* truncated_value = "it is truncated, or its numbers are too large";

/// A value of RedisBloom in the order that it is read in.
class redisbloom_value {
 public:
  redisbloom_value(io* in, int version) noexcept : in_(in), version_(version) {}

  /// All but the links, of which there are so many.
  std::uint64_t load_chain(old_chain& chain) {
    next_ = next::link;
    chain.items = LoadUnsigned(in_);
    left_ = LoadUnsigned(in_);
    if (version_ >= rdb_with_options) chain.options = load_short();
    chain.set_expansion(version_ >= rdb_with_expansion ? load_short() : expansion_before);
    return left_;
  }
  /// All that stands before its bits.
  void load_link(old_link& link) {
    next_ = next::bits;
    link.elements = LoadUnsigned(in_);
    link.error = LoadDouble(in_);
    link.item_bits = load_short();
    link.bits_per_element = LoadDouble(in_);
    if (version_ >= rdb_with_bits) {
      link.bits = LoadUnsigned(in_);
      link.log2_bits = load_short();
    } else {
      const double all = static_cast<double>(link.elements) * link.bits_per_element;
      fits_ = fits_ && all >= 0 && all < static_cast<double>(filter_plan::most_bits);
      if (fits_) link.bits = static_cast<std::uint64_t>(all);
    }
    fits_ = fits_ && link.log2_bits <= 63;
  }
  /// And what stands behind them.
  counted_memory load_bits(old_link& link) {
    next_ = next::link;
    if (left_ > 0) --left_;
    std::size_t size = 0;
    char* const text = LoadStringBuffer(in_, &size);
    counted_memory bits(text, text != nullptr ? size : 0);
    link.bytes = bits.bytes().size();
    link.items = LoadUnsigned(in_);
    return bits;
  }
  /// Nothing was missing, and no number too large.
  bool is_readable() const { return fits_ && IsIOError(in_) == 0; }
  /// As that of own_value.
  void skip() {
    old_chain chain;
    old_link link;
    if (next_ == next::chain) load_chain(chain);
    if (next_ == next::bits) load_bits(link);
    while (IsIOError(in_) == 0 && left_ > 0) {
      load_link(link);
      load_bits(link);
    }
  }

 private:
  enum class next { chain, link, bits };

  /// Numbers of 32 bits are saved as 64.
  std::uint32_t load_short() {
    const std::uint64_t number = LoadUnsigned(in_);
    fits_ = fits_ && number <= std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(number);
  }

  io* in_;
  int version_;
  bool fits_ = true;
  next next_ = next::chain;
  std::uint64_t left_ = 0;
};

/// One link, and its bits, which are let go if there are more of them or fewer than it says. A
/// sentence if that cannot be.
std::optional<std::string> read_link(redisbloom_value& value, std::uint64_t allowed, old_link& link,
                                     std::vector<counted_memory>& all) {
  value.load_link(link);
  if (!value.is_readable()) return truncated_value;
  if (link.modulus() / 8 > allowed)
    return "it needs " + std::to_string(link.modulus() / 8) + " bytes, and " +
           std::to_string(allowed) + " are allowed";
  counted_memory bits = value.load_bits(link);
  if (!value.is_readable()) return truncated_value;
  if (auto wrong = find_fault(link)) return wrong;
  all.push_back(std::move(bits));
  return std::nullopt;
}

std::unique_ptr<stored_filter> read_redisbloom(io* in, redisbloom_value& value, load_fault& fault) {
  fault = truncated_value;
  const std::uint64_t allowed = part_limit(GetContextFromIO(in)).bytes_to_read();
  old_chain chain;
  const std::uint64_t links = value.load_chain(chain);
  if (!value.is_readable() || links > old_chain::most_links) return nullptr;
  std::vector<counted_memory> bits;
  bits.reserve(static_cast<std::size_t>(links));
  chain.links.reserve(static_cast<std::size_t>(links));
  for (std::uint64_t i = 0; i < links; ++i)
    if (auto wrong = read_link(value, allowed, chain.links.emplace_back(), bits)) {
      fault = *wrong;
      return nullptr;
    }
  if (auto wrong = find_fault(chain)) {
    fault = *wrong;
    return nullptr;
  }
  return std::make_unique<stored_filter>(old_parts(std::move(chain), std::move(bits)));
}

void* load_redisbloom(io* in, int version) {
  if (version == redisbloom_type_version) return load(in, type_version);
  return load_by(in, redisbloom_value(in, version),
                 "a filter of RedisBloom is refused, which oneprobe redis import may read from a "
                 "running server",
                 [&](redisbloom_value& value, load_fault& fault) {
                   return version > newest_redisbloom_rdb ? refuse_newer(version, fault)
                                                          : read_redisbloom(in, value, fault);
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
    return must_follow() ? new stored_filter(damage::no_memory) : nullptr;
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
