// A filter policy for LevelDB with fewer needless block reads than the built-in one, for the same
// memory. One line changes:
//
//   options.filter_policy = oneprobe::leveldb_integration::make_filter_policy(16).release();
//
// where it was leveldb::NewBloomFilterPolicy(16). As there, the database does not own the policy:
// keep the pointer, and delete it after the database.
//
// A database that was written with another policy can be opened: LevelDB asks no filter of another
// name, and tables get new filters when they are compacted. A policy with other bits per key reads
// all filters that this one wrote. Whatever the bytes of a filter are, a lookup reads none beyond
// them; bytes that are no filter of ours may match every key.
//
// Keys are hashed with a fixed seed, since filters outlive the process. A client that chooses keys
// can make lookups read blocks needlessly; nothing worse. Thread-safe. A custom comparator under
// which keys of different bytes are equal needs a policy of its own, as with the built-in one.
#pragma once

#include <leveldb/filter_policy.h>

#include <memory>

namespace oneprobe::leveldb_integration {

/// Bits per key from 8 to 40, in quarters of a bit: std::invalid_argument for others. A filter
/// takes one byte more, as the built-in policy's do.
[[nodiscard]] std::unique_ptr<const leveldb::FilterPolicy> make_filter_policy(double bits_per_key);

}  // namespace oneprobe::leveldb_integration
