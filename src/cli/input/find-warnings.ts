import { join } from 'node:path'

import type { Config } from '../../config/config.js'
import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { packageRoot } from '../../lib/package-root.js'
import { checkInput, collectSources, parseModules, type LoadOptions } from '../../rego/index.js'
import { detailText } from '../output/report-failure.js'
import { printable } from '../../lib/text/shown-text.js'
import type { WarningOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
export interface SchemaOptions {
  readonly schema?: string
}

/** Returns the directory of schemas; undefined without `--schema`. */
export function schemaFolder({ schema }: SchemaOptions): string | undefined {
  return schema === 'default' ? join(packageRoot, 'schemas') : schema
}

/**
 * Returns warnings about `input` members that the schemas do not have; none without `--schema`.
 * Raises `invalid` if there are no policy sources, and the errors of `checkInput`.
 */
export async function findInputWarnings(
  directories: readonly string[],
  { schema }: SchemaOptions,
  { staticPackages }: Config['policies'],
  load: LoadOptions,
): Promise<ErrorDetail[]> {
  if (schema === undefined) return []
  if (directories.length === 0)
    throw new AppError(
      'invalid',
      '--schema requires policy sources; pass their directory instead of a bundle',
    )
  const opa = await load.findOpa()
  const { rego } = await collectSources(directories, { includeTests: false })
  const schemas = schemaFolder({ schema }) ?? ''
  return await checkInput(opa, await parseModules(opa, rego), { schemas, staticPackages })
}

/** Returns whether warnings fail the command: with `--fail-on-warning` or `--strict`. */
export function failsOnWarnings(
  warnings: readonly ErrorDetail[],
  { failOnWarning, strict }: WarningOptions & { readonly strict?: true },
): boolean {
  return warnings.length > 0 && (failOnWarning === true || strict === true)
}

/** Prints warnings to standard error. JSON reports contain them already. */
export function reportWarnings(warnings: readonly ErrorDetail[], format: string, terminal: Terminal): void {
  if (format === 'json') return
  for (const warning of warnings) terminal.err(`warning: ${printable(detailText(warning))}\n`)
}
