"""Reads filter files as docs/formats/ describes them, with nothing of Oneprobe but that description.

    filter_file = read_filter(open("seen.filter", "rb").read())      # a FilterFile or a PartsFile
    filter_file.may_contain("a key")                                 # text, bytes, or an integer

The only thing it does not compute itself is XXH3, for which it needs the module xxhash (Debian: python3-xxhash).
"""

import struct

import xxhash

MAGIC = bytes.fromhex("89 4f 4e 45 50 0d 0a 1a")
STANDARD, PARTITIONED, BLOCKED, COUNTING, BALANCED, FINGERPRINT = 1, 2, 3, 4, 5, 6
GROWING, ROTATING = 64, 65
SINGLE, SEQUENTIAL, MULTILEVEL, D_RANDOM, D_LEFT = range(5)
COUNTER, COIN, FLAG, COIN_FLAG, TRACKING, POPCOUNT = range(6)
LANES = 2
MASK_32 = 2**32 - 1
MASK_64 = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
ODD = [int(x, 16) for x in "cee1704d 9fac9449 c2ee35f7 756f78ef 65c154a7 13999d49 01dfb52f 4518db3d".split()]
K = 0x6C1DEEE7
NEXT_CELL = 0xF1357AEA2E62A9C5


class FormatError(Exception):
    pass


def require(holds, what):
    if not holds:
        raise FormatError(what)


def mix(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK_64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK_64
    return x ^ (x >> 31)


def stream(key_hash, number):
    return mix((key_hash + number * GOLDEN) & MASK_64)


def reduce(x, n):
    return x * n >> 64


def read_sections(data):
    """The kind of a file, its parameters and its payload."""
    require(data[:8] == MAGIC[: len(data)] and data, "not an oneprobe file")
    require(len(data) >= 64, "truncated")
    (version, kind, zero, parameter_bytes, payload_bytes, parameter_sum, payload_sum, also_zero, own_sum) = (
        struct.unpack("<HHIQQQQQQ", data[8:64])
    )
    require(xxhash.xxh3_64_intdigest(data[:56]) == own_sum, "checksum mismatch")
    require(version <= 1, "newer format")
    require(version == 1 and zero == 0 and also_zero == 0, "inconsistent parameters")
    require(len(data) >= 64 + parameter_bytes + payload_bytes, "truncated")
    require(len(data) == 64 + parameter_bytes + payload_bytes, "trailing bytes")
    parameters = data[64 : 64 + parameter_bytes]
    payload = data[64 + parameter_bytes :]
    require(xxhash.xxh3_64_intdigest(parameters) == parameter_sum, "checksum mismatch")
    require(xxhash.xxh3_64_intdigest(payload) == payload_sum, "checksum mismatch")
    return kind, parameters, payload


def read_filter(data):
    """Whatever kind of filter a file holds."""
    kind, parameters, payload = read_sections(data)
    if kind in (GROWING, ROTATING):
        return PartsFile(kind, parameters, payload)
    return FilterFile(data)


class PartsFile:
    """A growing or a rotating filter: several filter files, the oldest first."""

    def __init__(self, kind, section, payload):
        self.kind = kind
        require(len(section) >= 128, "inconsistent parameters")
        (
            version, hash_id, seed, self.fpr, count, self.first_elements, self.growth, self.tightening, self.left,
            self.grow_at, self.growth_state,
        ) = struct.unpack("<IIQdQQdddQI", section[:76])  # fmt: skip
        require(version <= 1, "newer format")
        require(version == 1 and not any(section[76:128]), "inconsistent parameters")
        require(len(section) == (128 + 8 * count + 63) // 64 * 64, "inconsistent parameters")
        require(not any(section[128 + 8 * count :]), "inconsistent parameters")
        lengths = struct.unpack_from(f"<{count}Q", section, 128)
        require(sum(lengths) == len(payload), "inconsistent parameters")
        self.parts = []
        for length in lengths:
            part = FilterFile(payload[:length])
            require(part.hash_id == hash_id and part.seed == seed, "inconsistent parameters")
            self.parts.append(part)
            payload = payload[length:]
        require(len({part.kind for part in self.parts}) == 1, "inconsistent parameters")
        if kind == GROWING:
            self._check_growth()
        else:
            require(2 <= count <= 64 and 0 <= self.fpr <= 1, "inconsistent parameters")
            require(not any(section[32:76]), "inconsistent parameters")
            require(len({part.plan for part in self.parts}) == 1, "inconsistent parameters")

    def _check_growth(self):
        require(0 < self.fpr < 1 and 0 < self.tightening < 1, "inconsistent parameters")
        require(1 < self.growth < float("inf"), "inconsistent parameters")
        left = self.fpr
        for part in self.parts:
            left -= part.predictions[0] or left * (1 - self.tightening)
        require(0 < self.left and abs(self.left - left) <= 1e-9 * self.fpr, "inconsistent parameters")
        newest = self.parts[-1]
        planned = newest.planned_elements
        require(newest.elements <= self.grow_at, "inconsistent parameters")
        if self.growth_state == 0:
            require(self.grow_at == planned, "inconsistent parameters")
        else:
            require(self.growth_state <= 2 and planned < self.grow_at <= 2**62, "inconsistent parameters")
            require(self.grow_at - newest.elements <= max(1, planned // 8), "inconsistent parameters")

    def may_contain(self, key):
        return any(part.may_contain(key) for part in reversed(self.parts))


class FilterFile:
    def __init__(self, data):
        self.kind, parameters, payload = read_sections(data)
        require(len(parameters) == 256 and 1 <= self.kind <= 6, "inconsistent parameters")
        self._read_parameters(parameters)
        self._read_payload(payload)

    def _read_parameters(self, section):
        fields = struct.unpack("<IIQQQIIIIBBBBIIId8QQQ5dQQQQII", section[:232])
        (
            version, self.hash_id, self.seed, self.planned_elements, self.cells, self.k, self.counter_bits,
            self.block_bits, self.levels, self.layout, self.scheme, self.rule, zero, self.choices, self.threshold,
            self.tracking_bits, self.admit_probability,
        ) = fields[:17]  # fmt: skip
        self.plan = section[16:192]
        self.level_buckets = fields[17:25]
        self.overflow_slots, self.overflow_reserve = fields[25:27]
        self.predictions = fields[27:32]
        self.elements, self.overflow_entries, self.forced, self.dropped = fields[32:36]
        self.capacity, self.remainder_bits = fields[36:38]
        require(version == 1 and zero == 0 and not any(section[232:]), "inconsistent parameters")
        require(self.kind == FINGERPRINT or not any(section[224:232]), "inconsistent parameters")
        require(self.hash_id == 1, "the keys were hashed by the writer's own policy")
        self.secret = mix((self.seed + GOLDEN) & MASK_64)
        self.odd_secret = mix((self.seed + 2 * GOLDEN) & MASK_64) | 1
        self.blocks = sum(self.level_buckets[: self.levels])
        self.counter_width = 0
        if self.kind == BALANCED:
            self._read_block_state()
        elif self.kind == FINGERPRINT:
            self.header_bits = 511 - self.capacity * self.remainder_bits
            self.fingerprints = (self.header_bits - self.capacity) << self.remainder_bits
        else:
            self.bloom_bits = self.block_bits

    def _read_block_state(self):
        self.most = self.threshold + (1 if self.admit_probability > 0 else 0)
        largest = self.most
        if self.rule in (FLAG, COIN_FLAG):
            largest += 2 if self.admit_probability > 0 else 1
        if self.rule != POPCOUNT:
            self.counter_width = largest.bit_length()
        self.tracking_width = self.tracking_bits if self.rule in (TRACKING, POPCOUNT) else 0
        self.bloom_bits = self.block_bits - self.counter_width - self.tracking_width

    def _read_payload(self, payload):
        def whole_lines(count):
            return (count + 63) // 64 * 64

        in_blocks = self.kind in (BLOCKED, BALANCED, FINGERPRINT)
        bits = self.blocks * self.block_bits if in_blocks else self.cells * self.counter_bits
        cell_bytes = whole_lines((bits + 7) // 8)
        require(len(payload) == cell_bytes + whole_lines(4 * self.overflow_slots), "inconsistent parameters")
        # One large number: its bit i is bit i of the filter.
        self.bits = int.from_bytes(payload[:cell_bytes], "little")
        self.slots = struct.unpack_from(f"<{self.overflow_slots}I", payload, cell_bytes)
        require(self.bits >> bits == 0, "inconsistent parameters")
        require(sum(1 for slot in self.slots if slot) == self.overflow_entries, "inconsistent parameters")

    def hash(self, key):
        if isinstance(key, int):
            return mix(((key & MASK_64) ^ self.secret) * self.odd_secret & MASK_64)
        text = key.encode() if isinstance(key, str) else key
        return xxhash.xxh3_64_intdigest(text, seed=self.secret)

    def may_contain(self, key):
        key_hash = self.hash(key)
        pattern = key_hash * 0xD1342543DE82EF95 & MASK_64
        if self.kind == BLOCKED:
            return self._in_block(reduce(key_hash, self.blocks), pattern)
        if self.kind == BALANCED:
            return self._in_candidates(key_hash, pattern)
        if self.kind == FINGERPRINT:
            return self._in_buckets(key_hash)
        return self._in_cells(pattern)

    def _in_cells(self, x):
        width = self.cells // self.k
        largest = 2**self.counter_bits - 1
        for j in range(self.k):
            cell = j * width + reduce(x, width) if self.kind == PARTITIONED else reduce(x, self.cells)
            if self.bits >> (cell * self.counter_bits) & largest == 0:
                return False
            x = x * NEXT_CELL & MASK_64
        return True

    def _block(self, number):
        return self.bits >> (number * self.block_bits) & (2**self.block_bits - 1)

    def _positions(self, pattern):
        a, b = pattern & MASK_32, pattern >> 32
        words = [a, b, a * K & MASK_32, b * K & MASK_32]
        for j in range(self.k):
            x = words[j // 8] * ODD[j % 8] & MASK_32
            if self.layout == LANES:
                lane = self.block_bits // self.k
                yield j * lane + (x >> (32 - (lane.bit_length() - 1)))
            else:
                yield (x >> 16) * self.bloom_bits >> 16

    def _in_block(self, number, pattern):
        block = self._block(number)
        return all(block >> position & 1 for position in self._positions(pattern))

    def _in_candidates(self, key_hash, pattern):
        begin = 0
        for i in range(self.choices):
            bits = key_hash if i == 0 else stream(key_hash, i)
            if self.scheme in (MULTILEVEL, D_LEFT):
                number = begin + reduce(bits, self.level_buckets[i])
                begin += self.level_buckets[i]
            else:
                number = reduce(bits, self.blocks)
            if self._in_block(number, pattern):
                return True
            if not self._may_have_refused(self._block(number), key_hash, i):
                return False
        return self._in_overflow(key_hash)

    def _bucket(self, number):
        """The fingerprints of a bucket, ascending, and whether it has handed one on."""
        bits = self._block(number)
        ones = [bit for bit in range(self.header_bits) if bits >> bit & 1]
        remainders = bits >> (self.header_bits + 1)
        kept = []
        for i, bit in enumerate(ones):
            remainder = remainders >> (i * self.remainder_bits) & (2**self.remainder_bits - 1)
            kept.append((bit - i) << self.remainder_bits | remainder)
        return kept, bits >> self.header_bits & 1 == 1

    def _in_buckets(self, name):
        begin = 0
        for size in self.level_buckets[: self.levels]:
            product = name * size
            number = begin + (product >> 64)
            fingerprint = reduce(product & MASK_64, self.fingerprints)
            kept, handed_on = self._bucket(number)
            if fingerprint in kept:
                return True
            if not handed_on or (kept and fingerprint < kept[-1]):
                return False
            name = mix((number * self.fingerprints + fingerprint) & MASK_64)
            begin += size
        if not kept or self.dropped:
            return True
        bits = stream(name, 130)
        wanted = bits & MASK_32 or 1
        for i in range(self.overflow_slots):
            slot = self.slots[(reduce(bits, self.overflow_slots) + i) % self.overflow_slots]
            if slot >= wanted or slot == 0:
                return slot == wanted
        return False

    def _load(self, block):
        """The load, and whether the flag is set."""
        if self.rule == POPCOUNT:
            return bin(block & (2**self.bloom_bits - 1)).count("1"), False
        counter = block >> self.bloom_bits & (2**self.counter_width - 1)
        if self.rule in (FLAG, COIN_FLAG) and counter > self.most:
            return self.threshold + counter - self.most - 1, True
        return counter, False

    def _may_have_refused(self, block, key_hash, i):
        load, flagged = self._load(block)
        if self.scheme in (D_RANDOM, D_LEFT):
            return i + 1 < self.choices or load >= self.threshold
        if self.rule in (TRACKING, POPCOUNT):
            number = (key_hash & 0xFFFF) * self.tracking_bits >> 16
            return block >> (self.block_bits - self.tracking_bits + number) & 1 == 1
        coin_refuses = stream(key_hash, 64 + i) >= int(self.admit_probability * 2.0**64)
        above = load > self.threshold or (load == self.threshold and coin_refuses)
        return {
            COUNTER: load >= self.threshold,
            COIN: above,
            FLAG: flagged,
            COIN_FLAG: flagged and above,
        }[self.rule]

    def _in_overflow(self, key_hash):
        if self.dropped:
            return True
        bits = stream(key_hash, 130)
        fingerprint = bits & MASK_32 or 1
        for i in range(self.overflow_slots):
            slot = self.slots[(reduce(bits, self.overflow_slots) + i) % self.overflow_slots]
            if slot in (fingerprint, 0):
                return slot == fingerprint
        return False
