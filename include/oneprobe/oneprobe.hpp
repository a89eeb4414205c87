// All products: filters, maps, maps with one probe, the page store and the balancer. Each also has
// a header of its own, and compiles faster by it.
//
// The compiled parts, with libraries of their own to link, stay apart: model/, plan/ and sim/. So
// does baseline/, which is for comparison only.
#pragma once

#include "oneprobe/balancer.hpp"
#include "oneprobe/filter/any_filter.hpp"
#include "oneprobe/filter/concurrent.hpp"
#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/parts_file.hpp"
#include "oneprobe/filter/rotating.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/bounded_set.hpp"
#include "oneprobe/map/chained_map.hpp"
#include "oneprobe/map/concurrent_map.hpp"
#include "oneprobe/map/file.hpp"
#include "oneprobe/one_probe/interpolation_summary.hpp"
#include "oneprobe/one_probe/multi_filter.hpp"
#include "oneprobe/one_probe/one_probe_map.hpp"
#include "oneprobe/one_probe/packed_strings.hpp"
#include "oneprobe/one_probe/single_filter.hpp"
#include "oneprobe/page_store/builder.hpp"
#include "oneprobe/page_store/page_store.hpp"
#include "oneprobe/version.hpp"
