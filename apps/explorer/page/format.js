// Numbers as a person reads them. Nothing is computed here but scales and units.

const groups = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export const grouped = (value) => groups.format(value);

/** 1000 -> "1k", 20000000 -> "20M". */
export function short(value) {
  for (const [size, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= size) return `${Number((value / size).toPrecision(4))}${letter}`;
  }
  return String(value);
}

export function bytes(value) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; value >= 1024 && unit + 1 < units.length; ++unit) value /= 1024;
  return unit === 0 ? `${value} bytes` : `${value.toFixed(1)} ${units[unit]}`;
}

/** 1e-4 -> "10⁻⁴", 2.5e-7 -> "2.5·10⁻⁷", 0.02 -> "0.02". */
export function scientific(value, digits = 3) {
  if (value === 0) return "0";
  if (value >= 1e-3 && value < 1e5) return String(Number(value.toPrecision(digits)));
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = exponent.replace("+", "").replace("-", "⁻").replace(/\d/g, (digit) => superscripts[digit]);
  const front = Number(mantissa);
  return front === 1 ? `10${power}` : `${front}·10${power}`;
}

/** An error as odds, which is how it is felt. */
export function odds(value) {
  if (!(value > 0)) return "never";
  const inverse = 1 / value;
  if (inverse < 10) return `1 in ${Number(inverse.toPrecision(2))}`;
  return `1 in ${grouped(Number(inverse.toPrecision(3)))}`;
}

export const percent = (value) => `${Number((100 * value).toPrecision(3))} %`;
export const fixed = (digits) => (value) => value.toFixed(digits);

/** What overflows on average, where less than a thousandth of an element is none. */
export const elements = (value) =>
  value < 1e-3 ? "below 0.001" : value < 10 ? String(Number(value.toPrecision(3))) : grouped(value);

export const nothing = "–";
export const or = (format) => (value) => (value === null || value === undefined ? nothing : format(value));
