#include "reproduce/documents.hpp"

namespace oneprobe::cli {

const std::vector<document>& documents() {
  static const std::vector<document> all{
      {"OFH", "Yossi Kanizo, David Hay, Isaac Keslassy", "Optimal Fast Hashing",
       "Buckets hold a few elements each, and an element may look at several of them. How little "
       "can "
       "overflow if elements look at only so many buckets on average, and which schemes do so "
       "well?",
       ofh_experiments},
      {"ECB", "Yossi Kanizo, David Hay, Isaac Keslassy", "Energy-Constrained Balancing",
       "Buckets without a limit, and any cost that grows faster and faster with the load. How "
       "evenly "
       "can elements be spread on a budget of accesses?",
       ecb_experiments},
      {"BBF", "Yossi Kanizo, David Hay, Isaac Keslassy", "Access-Efficient Balanced Bloom Filters",
       "The later version of Energy-Constrained Balancing: its balancing put to use in a Bloom "
       "filter "
       "whose blocks are read one at a time.",
       bbf_experiments},
      {"SSH", "Adam Kirsch, Michael Mitzenmacher", "Simple Summaries for Hashing With Choices",
       "A table of several levels with one element per bucket, and a small summary that says in "
       "which "
       "level to look: how large it has to be, how often it fails, how to delete.",
       ssh_experiments},
      {"LEC", "Shuchi Chawla (lecturer), Shijin Kong and Yiyang Zhang (scribes)",
       "Randomized load balancing and hashing (lecture notes)",
       "Balls and bins, the power of two choices, chains, and families of hash functions.",
       lec_experiments},
  };
  return all;
}

}  // namespace oneprobe::cli
