import type { RegoModule } from './rego-module.js'
import { positionIn, readTokens } from './tokens/read-tokens.js'

/** The comment above a package, where OPA reads annotations. */
export interface PackageComment {
  readonly module: RegoModule
  /** The lines of the module. */
  readonly lines: readonly string[]
  /** The number of lines before the package. */
  readonly packageLine: number
  /**
   * The number of lines before the content of each annotation, which starts with `# METADATA`.
   */
  readonly metadataLines: readonly number[]
}

const METADATA = /^#\s*METADATA\s*$/

/** Reads the comment above the package of a module. */
export function readPackageComment(module: RegoModule): PackageComment {
  const { tokens } = readTokens(module.text)
  const offset = tokens.find(({ text }) => text === 'package')?.offset ?? 0
  const lines = module.text.split('\n')
  const packageLine = positionIn(module.text, offset).row - 1
  let start = packageLine
  while (lines[start - 1]?.trim() === '') start--
  while (lines[start - 1]?.startsWith('#')) start--
  const metadataLines = lines
    .slice(start, packageLine)
    .flatMap((line, index) => (METADATA.test(line.trimEnd()) ? [start + index + 1] : []))
  return { module, lines, packageLine, metadataLines }
}

/** Returns the YAML of the annotations above a package. */
export function packageAnnotations({ lines, packageLine, metadataLines }: PackageComment): string[] {
  return metadataLines.map((from, index) => {
    const end = metadataLines[index + 1] ?? packageLine + 1
    const content = lines.slice(from, end - 1)
    return content.map((line) => line.slice(1)).join('\n')
  })
}
