// A key of the database, opened for one command.
#pragma once

#include <memory>

#include "commands.hpp"
#include "redis_api.hpp"
#include "stored_filter.hpp"

namespace oneprobe::redis {

class opened_key {
 public:
  enum class holds { nothing, filter, another_type };

  opened_key(context* ctx, string* name, int mode)
      : ctx_(ctx), name_(name), key_(OpenKey(ctx, name, mode)) {
    if (key_ == nullptr) return;
    // The usual case first: each question to Redis is a call.
    const data_type* type = ModuleTypeGetType(key_);
    if (type == state().type || (type != nullptr && type == state().redisbloom_type)) {
      holds_ = holds::filter;
      filter_ = static_cast<stored_filter*>(ModuleTypeGetValue(key_));
    } else if (KeyType(key_) != key_type_empty) {
      holds_ = holds::another_type;
    }
  }
  ~opened_key() {
    if (key_ != nullptr) CloseKey(key_);
  }
  opened_key(const opened_key&) = delete;
  opened_key& operator=(const opened_key&) = delete;

  holds content() const noexcept { return holds_; }
  /// REQUIRES: content() is a filter.
  stored_filter& filter() const noexcept { return *filter_; }

  /// REQUIRES: opened for writing, and nothing is there.
  stored_filter& put(std::unique_ptr<stored_filter> filter) {
    filter_ = filter.release();
    ModuleTypeSetValue(key_, state().type, filter_);
    holds_ = holds::filter;
    return *filter_;
  }
  void erase() {
    DeleteKey(key_);
    filter_ = nullptr;
    holds_ = holds::nothing;
  }
  void notify(const char* event) const { NotifyKeyspaceEvent(ctx_, notify_module, event, name_); }

 private:
  context* ctx_;
  string* name_;
  key* key_;
  holds holds_ = holds::nothing;
  stored_filter* filter_ = nullptr;
};

// Replies that several commands have in common.
namespace words {
inline constexpr const char* wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr const char* not_found = "ERR not found";
inline constexpr const char* item_exists = "ERR item exists";
inline constexpr const char* no_memory = "ERR Insufficient memory";
inline constexpr const char* bad_data = "ERR received bad data";
inline constexpr const char* not_created = "ERR could not create filter";
inline constexpr const char* no_growth = "ERR problem inserting into filter";
inline constexpr const char* out_of_step = "ERR filter is not the one that this was made for";
inline constexpr const char* arriving =
    "ERR filter is incomplete: more chunks of it have to be loaded";
}  // namespace words

/// What stands in the way of asking a filter that is not whole.
inline const char* obstacle(const stored_filter& filter) {
  return filter.damaged() == damage::none ? words::arriving : words_of(filter.damaged());
}
/// What stands in the way of asking the filter, as a reply; or null.
inline const char* obstacle(const opened_key& key) {
  if (key.content() == opened_key::holds::another_type) return words::wrong_type;
  if (key.content() == opened_key::holds::nothing) return words::not_found;
  return key.filter().whole() ? nullptr : obstacle(key.filter());
}

}  // namespace oneprobe::redis
