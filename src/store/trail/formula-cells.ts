/**
 * Characters with which a spreadsheet cell is a formula (OWASP, CSV injection), full-width and
 * small forms included.
 */
const FORMULA_STARTS = String.raw`\-=+@|%\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20`
/**
 * Characters that spreadsheets skip or treat as the end of a cell, so that a formula may follow:
 * semicolons, spaces, control and invisible characters.
 */
const SKIPPED = [
  String.raw`; \u007f-\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000`,
  String.raw`\ufeff\ufff9-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0001}-\u{e007f}`,
].join('')
const FORMULA = new RegExp(String.raw`^[\s\u0000-\u001f"'${SKIPPED}]*[${FORMULA_STARTS}]`, 'u')
/**
 * GLOB pattern of the characters. Columns contain no control characters; a leading hyphen in a set
 * is literal.
 */
const GLOB = `[${unescaped(FORMULA_STARTS + SKIPPED)}]*`

/** SQL condition for a text column that needs a mark in a CSV file. Leading quotes do not count. */
export function isFormulaSql(stored: string): string {
  return `ltrim(${stored}, '"''') glob '${GLOB}'`
}

/**
 * SQL condition for a text column that surely needs no mark. Most values start with a letter or a
 * digit, which takes a tenth of the time to check.
 */
export function isPlainSql(stored: string): string {
  return `${stored} glob '[a-zA-Z0-9]*'`
}

/** Prefixes a text that spreadsheets would run as a formula with an apostrophe. */
export function marked(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

function unescaped(set: string): string {
  return set
    .replaceAll('\\-', '-')
    .replaceAll(/\\u(?:\{(?<long>[0-9a-f]+)\}|(?<short>[0-9a-f]{4}))/g, (_, long?: string, short?: string) =>
      String.fromCodePoint(Number.parseInt(long ?? short ?? '', 16)),
    )
}
