"""Shows filters, tables and key hashes of Oneprobe in gdb: what they hold and were planned for, and a table's elements.

    (gdb) source /usr/share/oneprobe/gdb/oneprobe.py
    (gdb) print flows
    $1 = bounded_map of 2 elements, planned for 1000; 0 in the overflow; 63 + 14 + 3 + 1 buckets of 16 = {[7] = 1, [8] = 2}
"""

import re

import gdb
import gdb.printing

SIDE_BYTES = 32  # of a bucket: table_plan::side_bytes
# An inline namespace with the version may stand between.
NAMESPACE = r"^oneprobe::(?:\w+::)?"


def number(value):
    """A count, whether it is an integer or shared between threads."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_STRUCT:
        cells = value["cells_"]["_M_elems"]
        return sum(int(cells[i]["value"]["_M_i"]) for i in range(cells.type.strip_typedefs().range()[1] + 1))
    return int(value)


def levels_of(plan):
    blocks = plan["level_buckets"]["_M_elems"]
    return " + ".join(str(int(blocks[i])) for i in range(max(int(plan["levels"]), 1)))


def has(value, name):
    """Whether it has such a member, perhaps of a base."""
    fields = value.type.strip_typedefs().fields()
    return any(field.name == name or (field.is_base_class and has(value[field], name)) for field in fields)


class Table:
    """bounded_map, bounded_set, concurrent_map."""

    def __init__(self, value, name):
        self.value, self.name = value, name

    def to_string(self):
        plan, value = self.value["plan_"], self.value
        shared = self.name == "concurrent_map"
        size = number(value["size_"]) if shared else int(value["counts_"]["size"])
        overflow = number(value["overflowed_"]) if shared else int(value["counts_"]["overflow"])
        return (
            f"{self.name} of {size} elements, planned for {int(plan['elements'])}; {overflow} in the overflow; "
            f"{levels_of(plan)} buckets of {int(plan['bucket_capacity'])}"
        )

    def elements(self):
        for store in (self.value["buckets_"], self.value["overflow_"]):
            element, capacity = store.type.strip_typedefs().template_argument(0), int(self.value["plan_"]["bucket_capacity"])
            byte = gdb.lookup_type("unsigned char").pointer()
            side, slots = store["side_"].cast(byte), store["slots_"].cast(element.pointer())
            for bucket in range(int(store["buckets_"])):
                for slot in range(capacity):
                    if int(side[bucket * SIDE_BYTES + slot]) != 0:  # a low tag of 0 is a free slot
                        yield slots[bucket * capacity + slot]

    def children(self):
        if self.name == "concurrent_map":
            return  # its elements lie in words that others may be writing
        for i, element in enumerate(self.elements()):
            if has(element, "value"):
                yield f"key {i}", element["key"]
                yield f"value {i}", element["value"]
            else:
                yield f"[{i}]", element["key"]

    def display_hint(self):
        return "array" if self.name == "bounded_set" else "map"


class Filter:
    """Every kind of basic_filter and filter_reader."""

    def __init__(self, value, _):
        self.engine = value["engine_"]

    def to_string(self):
        plan = self.engine["plan_"]
        kind = str(plan["kind"]).rsplit("::", 1)[-1]
        size = number(self.engine["counts_"]["size"] if has(self.engine, "counts_") else self.engine["size_"])
        error = float(plan["predicted"]["fpr"])
        shape = f"; {levels_of(plan)} blocks of {int(plan['block_bits'])} bits" if int(plan["level_buckets"]["_M_elems"][0]) else ""
        return f"{kind} filter of {size} elements, planned for {int(plan['elements'])} and an error of {error:.1e}{shape}"


class KeyHash:
    def __init__(self, value, _):
        self.value = value

    def to_string(self):
        return f"key_hash {int(self.value['value']):#018x}"


PRINTERS = {
    "bounded_map": Table, "bounded_set": Table, "concurrent_map": Table, "basic_filter": Filter, "filter_reader": Filter,
    "key_hash": KeyHash,
}


class Collection(gdb.printing.PrettyPrinter):
    def __call__(self, value):
        kind = value.type.strip_typedefs().unqualified().name
        found = re.match(NAMESPACE + r"(\w+)(?:<.*>)?$", kind or "")
        return PRINTERS[found[1]](value, found[1]) if found and found[1] in PRINTERS else None


gdb.printing.register_pretty_printer(gdb.current_objfile(), Collection("oneprobe"), replace=True)
