import { AppError } from '../errors/app-error.js'
import type { ErrorDetail } from '../errors/app-error.js'
import { ConfigSchema } from './config.js'
import type { Config } from './config.js'
import { crossChecks } from './cross-checks.js'
import { isRemoved, withCurrentName } from './former-names.js'
import { describeIssue } from './describe-issue.js'
import { LayeredValues } from './values/layered-values.js'
import type { Origin, OriginatedValue } from './values/layered-values.js'
import { keyProblem } from './values/problem.js'
import { readConfigFile } from './read-config-file.js'
import { CONFIG_FILE_VARIABLE, readEnvironment } from './read-environment.js'

export interface ConfigSources {
  /** The configuration file; else TIDEGATE_CONFIG, else none. */
  readonly file?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** What flags set: `origin` is the flag, `--addr`. */
  readonly flags?: readonly OriginatedValue[]
}

/** A configuration that still tells where its values come from. */
export interface TracedConfig {
  readonly config: Config
  /** Where the value of a key comes from; undefined for a default. */
  readonly originOf: (path: readonly string[]) => Origin | undefined
}

/**
 * The effective configuration: defaults, then the file, then the environment, then flags; frozen. Raises one `invalid`
 * that lists every problem.
 */
export function loadConfig(sources: ConfigSources): Config {
  return traceConfig(sources).config
}

/** As `loadConfig`, with the origins of the values. */
export function traceConfig({ file, env, flags = [] }: ConfigSources): TracedConfig {
  const path = file ?? env[CONFIG_FILE_VARIABLE]
  const environment = readEnvironment(env)
  const values = new LayeredValues()
  const layers = [...(path ? readConfigFile(path) : []), ...environment.values, ...flags]
  for (const value of layers.filter((candidate) => !isEmptySection(candidate))) {
    if (!isRemoved(value)) values.set(withCurrentName(value))
  }
  replaceDefaultDirectories(values)
  const config = validate(values, environment.problems)
  return { config: deepFreeze(config), originOf: (key) => values.originOf(key) }
}

/** `server:` with nothing below it, as when all its keys are commented out. */
function isEmptySection({ path, value }: OriginatedValue): boolean {
  return path.length === 1 && value === null
}

/** Somebody who names a bundle does not mean the default directory beside it. */
function replaceDefaultDirectories(values: LayeredValues): void {
  const bundles = values.get(['policies', 'bundles'])
  const isAlone = values.get(['policies', 'directories']) === undefined
  if (isAlone && Array.isArray(bundles) && bundles.length > 0) {
    const path = ['policies', 'directories']
    values.set({ path, value: [], origin: values.originOf(['policies', 'bundles']) ?? '' })
  }
}

function validate(values: LayeredValues, found: readonly ErrorDetail[]): Config {
  const parsed = parse(values.root)
  const issues = parsed.success ? [] : parsed.error.issues
  const wrongPaths = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((name) => [...issue.path, name]) : [issue.path],
  )
  // The rules across keys are checked over what is left without the wrong values, so that all problems show at once.
  const rest = parsed.success ? parsed : parse(values.without(wrongPaths.map(toKeyPath)))
  const problems = [
    ...found,
    ...distinct(issues.flatMap((issue) => describeIssue(issue, values))),
    ...(rest.success ? checkAcross(rest.data, values, wrongPaths) : []),
  ]
  if (problems.length === 0 && parsed.success) return parsed.data
  const count = problems.length === 1 ? 'there is a problem' : `there are ${problems.length} problems`
  throw new AppError('invalid', `the configuration cannot be used: ${count}`, {
    code: 'invalid_configuration',
    details: problems,
  })
}

/** A number beyond all bounds breaks two of them, which is one problem. */
function distinct(problems: readonly ErrorDetail[]): ErrorDetail[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()]
}

/** Without the functions that zod otherwise writes and compiles for each schema: they take longer than the one document that they would read. */
function parse(root: unknown): ReturnType<typeof ConfigSchema.safeParse> {
  return ConfigSchema.safeParse(root, { jitless: true })
}

/** A wrong element makes its whole list wrong. */
function toKeyPath(path: readonly PropertyKey[]): readonly PropertyKey[] {
  const index = path.findIndex((segment) => typeof segment === 'number')
  return index === -1 ? path : path.slice(0, index)
}

function checkAcross(
  config: Config,
  values: LayeredValues,
  wrongPaths: readonly (readonly PropertyKey[])[],
): ErrorDetail[] {
  const wrong = new Set(wrongPaths.map((path) => toKeyPath(path).join('.')))
  return crossChecks.flatMap(({ code, paths, check }) => {
    const isAffected = paths.some((path) => wrong.has(path.join('.')) || wrong.has(path[0]))
    const text = isAffected ? undefined : check(config)
    return text === undefined ? [] : [keyProblem(code, paths[0] ?? [], text, values.originOf(paths[0] ?? []))]
  })
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
