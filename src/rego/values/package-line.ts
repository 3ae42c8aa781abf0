/** White space of one line. That of several would be read again from each of them. */
const BLANKS = String.raw`[^\S\n\r\u2028\u2029]*`

/** A name in brackets, as a string or raw string. */
const BRACKETED = /\[\s*(?:"[^"\\\n]*(?:\\.[^"\\\n]*)*"|`[^`]*`)\s*\]/

/**
 * The start of a module: `package` and the whole reference, in the groups `line`, `name` and
 * `rest`. Does not match a reference with an unknown continuation.
 */
export const PACKAGE_LINE = new RegExp(
  `^(?<line>${BLANKS}package\\s+(?<name>[A-Za-z_]\\w*)(?<rest>(?:\\.[A-Za-z_]\\w*|${BRACKETED.source})*))(?!\\w|\\s*[.[])`,
  'm',
)

const SEGMENT = /\.(?<plain>\w+)|\[\s*(?:(?<quoted>"[^"\\\n]*(?:\\.[^"\\\n]*)*")|`(?<raw>[^`]*)`)\s*\]/g

/** Returns the path of a module's package below `data`; undefined without a package line. */
export function packagePath(text: string): string[] | undefined {
  const groups = PACKAGE_LINE.exec(text)?.groups
  if (groups === undefined) return undefined
  const { name = '', rest = '' } = groups
  const segments = [...rest.matchAll(SEGMENT)].map(({ groups: segment }) => {
    return segment?.['plain'] ?? segment?.['raw'] ?? (JSON.parse(segment?.['quoted'] ?? '""') as string)
  })
  return [name, ...segments]
}
