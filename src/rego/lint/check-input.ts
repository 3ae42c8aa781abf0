import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'

import { parseJson } from '../../lib/json/text/parse-json.js'
import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import type { RegoModule } from '../modules/rego-module.js'
import { sourceNames, stageBundle, withoutRoot } from '../modules/stage-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { runOffline } from '../opa/run-offline.js'
import { RegoObject } from '../values/value.js'
import { EvaluatedPackages } from './evaluated-packages.js'
import { packageAnnotations, readPackageComment } from '../modules/package-comment.js'
import type { PackageComment } from '../modules/package-comment.js'

export interface InputCheckOptions {
  /**
   * A directory with JSON Schemas: `static.json` for the input of static policies, `runtime.json`
   * for runtime policies.
   */
  readonly schemas: string
  readonly staticPackages: readonly string[]
}

/** OPA stops after ten errors by default. */
const MAX_ERRORS = '10000'

const Segment = z.object({ type: z.string(), value: z.unknown() })
const TypeErrors = z.object({
  errors: z.array(
    z.object({
      message: z.string(),
      code: z.string().optional(),
      location: z.object({ file: z.string(), row: z.number(), col: z.number() }).optional(),
      details: z
        .object({
          ref: z.array(Segment).optional(),
          pos: z.number().optional(),
          oneOf: z.array(z.unknown()).nullish(),
        })
        .nullish()
        .catch(undefined),
    }),
  ),
})
type TypeError = z.infer<typeof TypeErrors>['errors'][number]

/**
 * Returns the references to `input` that no schema has, from `opa check --schema`. Packages
 * evaluated for verdicts without a schema annotation get the schema of their kind. Raises `invalid`
 * if a schema cannot be read or an annotation names none.
 */
export async function checkInput(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  { schemas, staticPackages }: InputCheckOptions,
): Promise<ErrorDetail[]> {
  const directory = resolve(schemas)
  const known = await Promise.all([exists(directory, 'static'), exists(directory, 'runtime')])
  const kinds = new Set(['static', 'runtime'].filter((_, index) => known[index]))
  const evaluated = new EvaluatedPackages(staticPackages)
  const served = modules.filter(({ file }) => !file.endsWith('_test.rego'))
  const annotated = annotateModules(served, (path) => {
    const caller = evaluated.callerKindOf(path)
    return kinds.has(caller) ? caller : undefined
  })
  const staged = annotated.map(({ module }) => module)
  const names = sourceNames(staged)
  const toRow = new Map(annotated.map((entry) => [entry.module.file, entry.toRow]))
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (cwd) => {
    await stageBundle(cwd, staged, new RegoObject([]))
    const flags = ['--format', 'json', '--bundle', '.', '--schema', directory, '--max-errors', MAX_ERRORS]
    const run = await runOffline(opa, { command: 'check', flags }, { cwd })
    if (run.exitCode === 0) return []
    return readErrors(`${run.stdout}${run.stderr}`, schemas).map((error) => {
      const location = error.location ?? { file: '', row: 0, col: 0 }
      const file = names.get(withoutRoot(location.file)) ?? location.file
      return describe(error, { ...location, file, row: toRow.get(file)?.(location.row) ?? location.row })
    })
  })
}

async function exists(directory: string, name: string): Promise<boolean> {
  return await access(join(directory, `${name}.json`)).then(
    () => true,
    () => false,
  )
}

function readErrors(text: string, schemas: string): TypeError[] {
  const start = text.indexOf('{')
  const parsed = start === -1 ? undefined : TypeErrors.safeParse(parseJson(text.slice(start)))
  const errors = parsed?.success === true ? parsed.data.errors : []
  const others = errors.filter(({ code, location }) => code !== 'rego_type_error' || location === undefined)
  if (errors.length > 0 && others.length === 0) return errors
  const [reason = text.trim()] = others.map(({ message }) => message)
  throw new AppError('invalid', `check the input against the schemas in ${schemas}: ${reason}`)
}

function describe({ message, details }: TypeError, location: ErrorDetail['location']): ErrorDetail {
  const { ref = [], pos = 0, oneOf } = details ?? {}
  const at = location === undefined ? {} : { location }
  if (!message.startsWith('undefined ref')) return { code: 'input_type', message, ...at }
  const written = ref[pos]?.value
  const names = (oneOf ?? []).filter((name): name is string => typeof name === 'string')
  const near = typeof written === 'string' ? nearestName(written, names) : undefined
  const what = message.replace(/^undefined ref: /, '')
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return {
    code: 'undefined_input',
    message: `${what} is in no document that the schema describes${hint}`,
    ...at,
  }
}

/**
 * A module with a schema annotation for its package, and a function that maps its lines to the
 * original ones.
 */
interface AnnotatedModule {
  readonly module: RegoModule
  readonly toRow: (row: number) => number
}

/**
 * Returns modules with an input annotation for each package that `schemaOf` knows a schema for and
 * that has none. OPA accepts one annotation for each package.
 */
function annotateModules(
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
