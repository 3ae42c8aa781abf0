import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'

import { AppError, hasErrorCode, toError } from '../errors/app-error.js'
import type { ErrorDetail } from '../errors/app-error.js'
import { ConfigSchema } from './config.js'
import type { Config } from './config.js'
import { crossChecks } from './cross-checks.js'
import { isRemoved, withCurrentName } from './former-names.js'
import { LayeredValues } from './values/layered-values.js'
import type { Origin, OriginatedValue } from './values/layered-values.js'
import { keyProblem } from './values/problem.js'
import { CONFIG_FILE_VARIABLE, readEnvironment } from './read-environment.js'
import type { z } from 'zod'
import { nearestName, suggestion } from '../lib/text/nearest-name.js'
import { pathText } from '../lib/text/path-text.js'
import { allowedAt, isHiddenAt, namesAt } from './config-keys.js'
import { LineCounter, isMap, isNode, parseDocument } from 'yaml'
import type { Document, YAMLMap } from 'yaml'

export interface ConfigSources {
  /** The configuration file. Defaults to TIDEGATE_CONFIG, otherwise none. */
  readonly file?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Values set by flags. `origin` is the flag, such as `--addr`. */
  readonly flags?: readonly OriginatedValue[]
}

/** A configuration with the origins of its values. */
export interface TracedConfig {
  readonly config: Config
  /** Returns the origin of a key's value. Undefined for a default. */
  readonly originOf: (path: readonly string[]) => Origin | undefined
}

/**
 * Returns the effective configuration, frozen. Flags take precedence over the environment, then the
 * file, then defaults. Throws one `invalid` that lists every problem.
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

/** A section without keys, for example if all are commented out. */
function isEmptySection({ path, value }: OriginatedValue): boolean {
  return path.length === 1 && value === null
}

/** If only bundles or sources are configured, the default directory is not used. */
function replaceDefaultDirectories(values: LayeredValues): void {
  if (values.get(['policies', 'directories']) !== undefined) return
  const given = ['bundles', 'sources', 'opaConfig'].find((name) => {
    const value = values.get(['policies', name])
    return Array.isArray(value) ? value.length > 0 : value !== undefined
  })
  if (given === undefined) return
  const path = ['policies', 'directories']
  values.set({ path, value: [], origin: values.originOf(['policies', given]) ?? '' })
}

function validate(values: LayeredValues, found: readonly ErrorDetail[]): Config {
  const parsed = parse(values.root)
  const issues = parsed.success ? [] : parsed.error.issues
  const wrongPaths = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((name) => [...issue.path, name]) : [issue.path],
  )
  // Cross checks run on the configuration without the wrong values, so that all problems are
  // reported together.
  const rest = parsed.success ? parsed : parse(values.without(wrongPaths.map(toKeyPath)))
  const problems = [
    ...found,
    ...distinct(issues.flatMap((issue) => describeIssue(issue, values))),
    ...(rest.success ? checkAcross(rest.data, values, wrongPaths) : []),
  ]
  if (problems.length === 0 && parsed.success) return parsed.data
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  throw new AppError('invalid', `the configuration cannot be used: ${count}`, {
    code: 'invalid_configuration',
    details: problems,
  })
}

/** A number beyond several limits is reported once. */
function distinct(problems: readonly ErrorDetail[]): ErrorDetail[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()]
}

/**
 * zod's compiled parsers take longer to generate than a single document takes to parse without
 * them.
 */
function parse(root: unknown): ReturnType<typeof ConfigSchema.safeParse> {
  return ConfigSchema.safeParse(root, { jitless: true })
}

/** A wrong element invalidates its whole list. */
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

type Issue = z.core.$ZodIssue

const MAX_SHOWN = 80
/** The only keys below `auth` whose values are shown. Other values may be tokens by mistake. */
const SHOWN_AUTH_KEYS: readonly string[] = ['name', 'roles']

/**
 * Converts an issue of the schema to problems with the key, the allowed values, the actual value
 * and its origin.
 */
function describeIssue(issue: Issue, values: LayeredValues): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => unknownKey([...issue.path, name], values))
  }
  const { path } = issue
  const allowed =
    allowedAt(path) ?? (namesAt(path).length > 0 ? `an object with ${listNames(path)}` : issue.message)
  const value = values.get(path)
  const text =
    value === undefined ? `is missing: must be ${allowed}` : `must be ${allowed}, not ${show(path, value)}`
  return [keyProblem('invalid_value', path, text, values.originOf(path))]
}

function unknownKey(path: readonly PropertyKey[], values: LayeredValues): ErrorDetail {
  const name = String(path.at(-1))
  const origin = values.originOf(path)
  if (name === 'token' && path[0] === 'auth') {
    const text =
      'tokens do not belong in the configuration: set sha256 to the output of `tidegate hash-token`'
    return keyProblem('plain_token', path, text, origin)
  }
  const parent = path.slice(0, -1)
  const nearest = nearestName(name, namesAt(parent))
  const hint =
    nearest === undefined ? `; known are ${listNames(parent)}` : suggestion(pathText([...parent, nearest]))
  return keyProblem('unknown_key', path, `unknown key${hint}`, origin)
}

function listNames(path: readonly PropertyKey[]): string {
  return namesAt(path).join(', ')
}

function show(path: readonly PropertyKey[], value: unknown): string {
  const isSecret = path[0] === 'auth' && !path.some((segment) => SHOWN_AUTH_KEYS.includes(String(segment)))
  if (isSecret || isHiddenAt(path)) return 'the current value'
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

/**
 * Reads a configuration file with line numbers: `.json` as JSON, other files as YAML. Throws
 * `invalid` with every syntax error.
 */
function readConfigFile(file: string): OriginatedValue[] {
  const text = readText(file)
  const lines = new LineCounter()
  if (file.endsWith('.json')) refuseMalformedJson(file, text)
  const document = parseDocument(text, { lineCounter: lines })
  refuseMalformedYaml(file, document)
  const root = document.contents
  if (root === null) return []
  if (!isMap(root)) throw new AppError('invalid', `${file}: the configuration must be an object of sections`)
  const originAt = (node: unknown): string => `${file}:${lines.linePos(startOf(node)).line}`
  try {
    return listValues(root, [], { document, originAt })
  } catch (raw) {
    // Thrown for nested aliases, which can expand to any number of values.
    throw new AppError('invalid', `read configuration: ${file}: ${toError(raw).message}`, { cause: raw })
  }
}

function readText(file: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (raw) {
    const reason = hasErrorCode(raw, 'ENOENT') ? `${file} not found` : toError(raw).message
    throw new AppError('invalid', `read configuration: ${reason}`, { cause: raw })
  }
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8')
  throw new AppError('invalid', `read configuration: ${file} is not UTF-8 text: convert it to UTF-8`)
}

function refuseMalformedJson(file: string, text: string): void {
  try {
    JSON.parse(text)
  } catch (raw) {
    throw new AppError('invalid', `read configuration: ${file}: ${toError(raw).message}`, { cause: raw })
  }
}

function refuseMalformedYaml(file: string, document: Document.Parsed): void {
  if (document.errors.length === 0) return
  const details = document.errors.map(({ message, linePos }) => ({
    code: 'malformed_yaml',
    message: (message.split('\n')[0] ?? message)
      .replace(/ at line \d+, column \d+:?$/, '')
      .replace(/; please use YAML\.\w+\(\)$/, ', of which a configuration is one'),
    ...(linePos === undefined ? {} : { location: { file, row: linePos[0].line, col: linePos[0].col } }),
  }))
  throw new AppError('invalid', `read configuration: ${file} is not well-formed`, { details })
}

interface Reading {
  readonly document: Document
  readonly originAt: (node: unknown) => string
}

/**
 * Flattens objects, so that each member knows its line and later layers can replace single keys.
 */
function listValues(map: YAMLMap, path: readonly string[], reading: Reading): OriginatedValue[] {
  return map.items.flatMap(({ key, value }) => {
    const inner = [...path, String(key)]
    if (isMap(value) && value.items.length > 0) return listValues(value, inner, reading)
    return [{ path: inner, value: toJson(value, reading.document), origin: reading.originAt(key) }]
  })
}

function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}

function toJson(node: unknown, document: Document): unknown {
  return isNode(node) ? (node.toJS(document) as unknown) : undefined
}
