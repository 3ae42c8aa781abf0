/** Strings, raw strings and comments, in which a name or a keyword is none. */
const NOT_CODE = /"(?:[^"\\\n]|\\.)*"|`[^`]*`|#[^\n]*/g

/** The source with strings and comments blanked out, every other sign and line in its place. */
export function codeOnly(text: string): string {
  return text.replace(NOT_CODE, (match) => match.replace(/[^\n]/g, ' '))
}
