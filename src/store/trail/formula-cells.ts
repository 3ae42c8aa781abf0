/** With these a spreadsheet takes a cell for a formula (OWASP, CSV injection), the full-width and small forms too. */
const SIGNS = String.raw`\-=+@|%\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20`
/** What spreadsheets take for the end of a cell or for nothing, so that what follows may be a formula: semicolons, blanks, controls, invisible signs. */
const SKIPPED = [
  String.raw`; \u007f-\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000`,
  String.raw`\ufeff\ufff9-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0001}-\u{e007f}`,
].join('')
const FORMULA = new RegExp(String.raw`^[\s\u0000-\u001f"'${SKIPPED}]*[${SIGNS}]`, 'u')
/** Control characters are in no column; a hyphen that comes first in a set is no range. */
const GLOB = `[${unescaped(SIGNS + SKIPPED)}]*`

/** Whether a text column, given as SQL, is to be marked in a CSV file, as SQL: quotes before a sign change nothing. */
export function isFormulaSql(stored: string): string {
  return `ltrim(${stored}, '"''') glob '${GLOB}'`
}

/** Whether a text column, given as SQL, surely is none, as SQL: most begin with a letter or a digit, which costs a tenth to find out. */
export function isPlainSql(stored: string): string {
  return `${stored} glob '[a-zA-Z0-9]*'`
}

/** The same for a text: an apostrophe before it keeps a spreadsheet from running it. */
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
