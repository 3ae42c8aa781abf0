import { join } from 'node:path'

import type { Config } from '../../config/config.js'
import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { packageRoot } from '../../lib/package-root.js'
import { checkInput, collectSources, parseModules, type LoadOptions } from '../../rego/index.js'
import { detailText } from '../output/report-failure.js'
import { printable } from '../output/display-width.js'
import type { WarningOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'

/** The flag that has the input of policies checked. */
export interface SchemaOptions {
  readonly schema?: string
}

/** Where the schemas of `--schema` are; undefined without that flag. */
export function schemaFolder({ schema }: SchemaOptions): string | undefined {
  return schema === 'default' ? join(packageRoot, 'schemas') : schema
}

/**
 * What the policies in some directories read of `input` that the schemas of `--schema` do not have; nothing without that
 * flag. Raises `invalid` where there are no policies as they were written, and as `checkInput`.
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
      '--schema needs policies as they were written: give their directory, not a bundle',
    )
  const opa = await load.findOpa()
  const { rego } = await collectSources(directories, { includeTests: false })
  const schemas = schemaFolder({ schema }) ?? ''
  return await checkInput(opa, await parseModules(opa, rego), { schemas, staticPackages })
}

/** Whether warnings fail the command: with `--fail-on-warning`, and with `--strict`, which includes it. */
export function failsOnWarnings(
  warnings: readonly ErrorDetail[],
  { failOnWarning, strict }: WarningOptions & { readonly strict?: true },
): boolean {
  return warnings.length > 0 && (failOnWarning === true || strict === true)
}

/** Tells people of findings, on standard error so that the report stands alone; programs read them in it. */
export function reportWarnings(
  warnings: readonly ErrorDetail[],
  format: 'text' | 'json',
  terminal: Terminal,
): void {
  if (format === 'json') return
  for (const warning of warnings) terminal.err(`warning: ${printable(detailText(warning))}\n`)
}
