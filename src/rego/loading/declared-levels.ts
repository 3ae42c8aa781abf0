import { z } from 'zod'

import type { ErrorDetail } from '../../errors/app-error.js'
import { toAppError } from '../../errors/app-error.js'
import { readIsoTime } from '../../lib/clocks/iso-time.js'
import { readBySchema } from '../../lib/validation/read-by-schema.js'
import { isRecord } from '../../lib/validation/record.js'
import { packageAnnotations, readPackageComment } from '../modules/package-comment.js'
import type { RegoModule } from '../modules/rego-module.js'
import { LEVELS } from '../values/level.js'
import type { StatedLevel } from '../values/level.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import { printPackageName } from '../values/print-data-ref.js'

/** The levels that annotations declare. */
export interface DeclaredLevels {
  /** By the key of each package that has one. */
  readonly levels: ReadonlyMap<string, StatedLevel>
  /** Levels that cannot be read. Their packages are enforced. */
  readonly warnings: readonly ErrorDetail[]
}

/** Both must be in an annotation of a level. Most modules are not read further. */
const MARKS = ['METADATA', 'level']

const Until = z
  .string()
  .transform((text) => (/^\d{4}-/.test(text) ? readIsoTime(text, 'utc') : Number.NaN))
  .refine((ms) => Number.isFinite(ms), 'must be a date such as 2026-01-31 or an ISO 8601 time')

/** `off` is false in YAML 1.1, which OPA reads. */
const LevelName = z.preprocess((level) => (level === false ? 'off' : level), z.enum(LEVELS))

const Annotation = z.object({
  scope: z.string().default('package'),
  custom: z
    .object({
      // A level alone is short for an object, so that problems name the known levels.
      level: z.preprocess(
        (level) => (level === undefined || isRecord(level) ? level : { level }),
        z
          .strictObject({
            level: LevelName,
            applications: z.array(z.string().min(1)).min(1).optional(),
            until: Until.optional(),
            reason: z.string().optional(),
          })
          .optional(),
      ),
    })
    .optional(),
})

interface Declared {
  readonly key: string
  readonly includesBelow: boolean
  readonly stated: StatedLevel
}

/**
 * Reads `custom.level` of the annotations above packages: a level, or `{level, applications, until,
 * reason}`. The scope `subpackages` includes the packages below. `packages` are the keys of all
 * packages. A package with two different levels is enforced.
 */
export async function readDeclaredLevels(
  modules: readonly RegoModule[],
  packages: readonly string[],
): Promise<DeclaredLevels> {
  const declared: Declared[] = []
  const warnings: ErrorDetail[] = []
  for (const module of modules.filter(({ text }) => MARKS.every((mark) => text.includes(mark)))) {
    const comment = readPackageComment(module)
    for (const annotation of packageAnnotations(comment)) {
      try {
        const found = await readLevel(module, annotation)
        if (found !== undefined) declared.push(found)
      } catch (raw) {
        const location = { file: module.file, row: comment.packageLine + 1, col: 1 }
        warnings.push(unreadable(module.packagePath, raw, location))
        declared.push({ key: pathKey(module.packagePath), includesBelow: true, stated: { level: 'enforce' } })
      }
    }
  }
  const written = new Set(modules.map(({ packagePath }) => pathKey(packagePath)))
  const levels = new Map<string, StatedLevel>()
  for (const key of declared.length === 0 ? [] : packages) {
    const stated = levelOf(key, declared, written)
    if (stated !== undefined) levels.set(key, stated)
  }
  return { levels, warnings }
}

/**
 * Returns the level of a package: its own, else that of the nearest package above that includes it.
 * A document with verdicts below a package has the level of the package.
 */
function levelOf(
  key: string,
  declared: readonly Declared[],
  written: ReadonlySet<string>,
): StatedLevel | undefined {
  const path = pathOfKey(key)
  let isOwn = true
  for (let length = path.length; length > 0; length--) {
    const above = pathKey(path.slice(0, length))
    const found = declared.filter((level) => level.key === above && (isOwn || level.includesBelow))
    if (found.length > 0) return strictest(found)
    if (written.has(above)) isOwn = false
  }
  return undefined
}

/** Modules of one package may state its level more than once. */
function strictest(found: readonly Declared[]): StatedLevel {
  const [first, ...others] = found.map(({ stated }) => stated)
  const isSame = others.every((other) => JSON.stringify(other) === JSON.stringify(first))
  return first !== undefined && isSame ? first : { level: 'enforce' }
}

function unreadable(
  packagePath: readonly string[],
  raw: unknown,
  location: NonNullable<ErrorDetail['location']>,
): ErrorDetail {
  const name = printPackageName(packagePath)
  return {
    code: 'bad_level',
    message: `custom.level of package ${name} cannot be read, so the package is enforced: ${toAppError(raw).message}`,
    location,
  }
}

async function readLevel(module: RegoModule, yaml: string): Promise<Declared | undefined> {
  const { yamlToJson } = await import('../builtins/yaml/yaml.js')
  const annotation: unknown = JSON.parse(yamlToJson(yaml, module.text.length))
  const { scope, custom } = readBySchema(Annotation, annotation, {
    name: 'the annotation',
    code: 'bad_level',
  })
  if (custom?.level === undefined) return undefined
  const { until: untilMs, ...stated } = custom.level
  const key = pathKey(module.packagePath)
  return { key, includesBelow: scope === 'subpackages', stated: { ...stated, untilMs } }
}
