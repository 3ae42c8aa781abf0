import type { RegoModule } from '../modules/rego-module.js'
import { packageAnnotations, readPackageComment } from '../modules/package-comment.js'
import type { PackageComment } from '../modules/package-comment.js'

/**
 * A module with a schema annotation for its package, and a function that maps its lines to the
 * original ones.
 */
export interface AnnotatedModule {
  readonly module: RegoModule
  readonly toRow: (row: number) => number
}

/**
 * Returns modules with an input annotation for each package that `schemaOf` knows a schema for and
 * that has none. OPA accepts one annotation for each package.
 */
export function annotateModules(
  modules: readonly RegoModule[],
  schemaOf: (packagePath: readonly string[]) => string | undefined,
): AnnotatedModule[] {
  const chosen = new Map<string, PackageComment>()
  for (const comment of modules.map(readPackageComment)) {
    const key = JSON.stringify(comment.module.packagePath)
    const present = chosen.get(key)
    const isFirstAnnotated = present?.metadataLines.length === 0 && comment.metadataLines.length > 0
    if (present === undefined || isFirstAnnotated) chosen.set(key, comment)
  }
  return modules.map((module) => {
    const comment = chosen.get(JSON.stringify(module.packagePath))
    const schema = schemaOf(module.packagePath)
    const isAnnotated = comment?.module === module && schema !== undefined && !namesSchemas(comment)
    return isAnnotated ? annotate(comment, schema) : { module, toRow: (row) => row }
  })
}

function namesSchemas(comment: PackageComment): boolean {
  return packageAnnotations(comment).some((annotation) => /^\s*schemas\s*:/m.test(annotation))
}

function annotate(comment: PackageComment, schema: string): AnnotatedModule {
  const { module, lines, packageLine } = comment
  const [metadataLine] = comment.metadataLines
  const at = metadataLine ?? packageLine
  const added = ['# schemas:', `#   - input: schema.${schema}`]
  if (metadataLine === undefined) added.unshift('# METADATA')
  const text = [...lines.slice(0, at), ...added, ...lines.slice(at)].join('\n')
  return { module: { ...module, text }, toRow: (row) => (row > at ? row - added.length : row) }
}
