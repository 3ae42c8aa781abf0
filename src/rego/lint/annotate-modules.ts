import type { RegoModule } from '../modules/rego-module.js'
import { positionIn, readTokens } from '../modules/tokens/read-tokens.js'

/**
 * A module with a schema annotation for its package, and a function that maps its lines to the
 * original ones.
 */
export interface AnnotatedModule {
  readonly module: RegoModule
  readonly toRow: (row: number) => number
}

/** Matches the comment above a package, where OPA reads annotations. */
interface PackageComment {
  readonly module: RegoModule
  readonly lines: readonly string[]
  /** The number of lines before the package. */
  readonly packageLine: number
  /**
   * Returns the number of lines before the content after `# METADATA`; undefined if there is none.
   */
  readonly metadataLine: number | undefined
  readonly namesSchemas: boolean
}

const METADATA = /^#\s*METADATA\s*$/

/**
 * Returns modules with an input annotation for each package that `schemaOf` knows a schema for and
 * that has none. OPA accepts one annotation for each package.
 */
export function annotateModules(
  modules: readonly RegoModule[],
  schemaOf: (packagePath: readonly string[]) => string | undefined,
): AnnotatedModule[] {
  const chosen = new Map<string, PackageComment>()
  for (const comment of modules.map(packageComment)) {
    const key = JSON.stringify(comment.module.packagePath)
    const present = chosen.get(key)
    if (present === undefined || (present.metadataLine ?? comment.metadataLine) !== present.metadataLine)
      chosen.set(key, comment)
  }
  return modules.map((module) => {
    const comment = chosen.get(JSON.stringify(module.packagePath))
    const schema = schemaOf(module.packagePath)
    const isAnnotated = comment?.module === module && schema !== undefined && !comment.namesSchemas
    return isAnnotated ? annotate(comment, schema) : { module, toRow: (row) => row }
  })
}

function packageComment(module: RegoModule): PackageComment {
  const { tokens } = readTokens(module.text)
  const offset = tokens.find(({ text }) => text === 'package')?.offset ?? 0
  const lines = module.text.split('\n')
  const packageLine = positionIn(module.text, offset).row - 1
  let start = packageLine
  while (lines[start - 1]?.startsWith('#')) start--
  const comment = lines.slice(start, packageLine)
  const found = comment.findIndex((line) => METADATA.test(line.trimEnd()))
  return {
    module,
    lines,
    packageLine,
    metadataLine: found === -1 ? undefined : start + found + 1,
    namesSchemas: found !== -1 && comment.slice(found).some((line) => /^#\s*schemas\s*:/.test(line)),
  }
}

function annotate(comment: PackageComment, schema: string): AnnotatedModule {
  const { module, lines, packageLine, metadataLine } = comment
  const at = metadataLine ?? packageLine
  const added = ['# schemas:', `#   - input: schema.${schema}`]
  if (metadataLine === undefined) added.unshift('# METADATA')
  const text = [...lines.slice(0, at), ...added, ...lines.slice(at)].join('\n')
  return { module: { ...module, text }, toRow: (row) => (row > at ? row - added.length : row) }
}
