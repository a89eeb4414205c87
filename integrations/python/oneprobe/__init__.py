"""Filters and maps that know what each operation may cost, and the numbers behind them.

    import oneprobe

    seen = oneprobe.Filter(1_000_000, 1e-4)
    seen.add("a key")
    "a key" in seen

    flows = oneprobe.Map(1_000_000)
    flows[42] = 7

    oneprobe.plan_filter(1_000_000, 1e-4).to_dict()
    oneprobe.model.blocked_error(16)

Files are those of the oneprobe tool and of the C++ library.
"""

import sys

from ._oneprobe import (
    Filter,
    FilterPlan,
    FullError,
    LoadError,
    Map,
    TablePlan,
    __version__,
    model,
    plan_filter,
    plan_table,
)

__all__ = [
    "Filter",
    "FilterPlan",
    "FullError",
    "LoadError",
    "Map",
    "TablePlan",
    "model",
    "plan_filter",
    "plan_table",
]

FullError.__doc__ = "A map has no room for a key; nothing was changed."
LoadError.__doc__ = "Bytes that are no file of a filter or map, or not of the one asked for."

# So that `import oneprobe.model` and pickles find them under the name that is documented.
sys.modules[__name__ + ".model"] = model
for _class in (Filter, FilterPlan, FullError, LoadError, Map, TablePlan, plan_filter, plan_table):
    _class.__module__ = __name__
model.__name__ = __name__ + ".model"
del sys, _class
