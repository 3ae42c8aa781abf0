/** The line of a module that names its package; only comments may stand before it. */
const PACKAGE = /^\s*package\s+(?<name>[A-Za-z_]\w*)(?<rest>(?:\.[A-Za-z_]\w*|\["(?:[^"\\]|\\.)*"\])*)/m
const SEGMENT = /\.(?<plain>\w+)|\[(?<quoted>"(?:[^"\\]|\\.)*")\]/g

/** The path of a module's package below `data`; undefined where the text has no such line. */
export function packagePath(text: string): string[] | undefined {
  const groups = PACKAGE.exec(text)?.groups
  if (groups === undefined) return undefined
  const { name = '', rest = '' } = groups
  const segments = [...rest.matchAll(SEGMENT)].map(({ groups: segment }) => {
    return segment?.['plain'] ?? (JSON.parse(segment?.['quoted'] ?? '""') as string)
  })
  return [name, ...segments]
}
