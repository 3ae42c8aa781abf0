import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { suggestion, nearestName } from '../../lib/text/nearest-name.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { opaRelease } from '../opa/opa-release.js'
import { runOpa } from '../opa/run-opa.js'
import type { OpaRun } from '../opa/run-opa.js'
import { pathKey } from '../values/path-key.js'
import { printDataRef } from '../values/print-data-ref.js'
import type { RegoModule } from './rego-module.js'

const OpaErrors = z.object({
  errors: z.array(
    z.object({
      message: z.string(),
      code: z.string().optional(),
      location: z.object({ file: z.string(), row: z.number(), col: z.number() }).optional(),
    }),
  ),
})

const Capabilities = z.object({ builtins: z.array(z.object({ name: z.string() })) })
const UNDEFINED_FUNCTION = /^undefined function (?<name>\S+)$/
/** A variable of at least three characters. Every other two-character name is similar. */
const UNSAFE_VARIABLE = /^var (?<name>\w{3,}) is unsafe$/
/** Built-ins that OPA 0.70 lacks. */
const YOUNGER = ['array.flatten', 'io.jwt.verify_eddsa', 'strings.split_n', 'uri.is_valid', 'uri.parse']

/** `a.rego:3: rego_parse_error: text`, the format of `opa build`, without a column. */
const PRINTED_ERROR =
  /^(?:\d+ errors? occurred:\s*)?(?<file>.+?\.rego):(?<row>\d+): (?<code>rego_\w+): (?<message>.*)$/

/** The first line of a Go panic. */
const PANIC = /^panic: (?<reason>.*?)(?: \[recovered\].*)?$/m

/** A staged file in a message, as in `conflicts with rule c defined at 0/a.rego:3`. */
const STAGED_FILE = /(?<![\w/.-])\.?\/?(?:[a-z]+\d*-)?\d+\/[\w.-]+(?=:\d)/g

/** Returns an `invalid` error for modules that do not compile, in OPA's format. */
export function compileError(details: readonly ErrorDetail[]): AppError {
  return new AppError('invalid', 'error(s) occurred while compiling module(s)', { details })
}

/**
 * Returns the errors in the output of `opa`: the JSON of `--format json`, or the text of `opa
 * build`. `toSource` maps the file names that OPA saw to source files.
 */
export function readOpaErrors(run: OpaRun, toSource: (file: string) => string): ErrorDetail[] {
  const structured = parseStructured(run.stdout) ?? parseStructured(run.stderr)
  return (
    structured?.map((detail) => withSource(detail, toSource)) ??
    parsePrinted(run.stderr || run.stdout, toSource)
  )
}

function parseStructured(text: string): ErrorDetail[] | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const { errors } = OpaErrors.parse(JSON.parse(text))
    return errors.map(({ message, code = 'opa_error', location }) => ({
      code,
      message,
      ...(location === undefined ? {} : { location }),
    }))
  } catch {
    return undefined
  }
}

function withSource(detail: ErrorDetail, toSource: (file: string) => string): ErrorDetail {
  const { location } = detail
  const message = detail.message.replace(STAGED_FILE, toSource)
  if (location === undefined) return { ...detail, message }
  return { ...detail, message, location: { ...location, file: toSource(location.file) } }
}

function parsePrinted(text: string, toSource: (file: string) => string): ErrorDetail[] {
  const lines = text.replace(/^error: /, '').split('\n')
  const located = lines.flatMap((line) => {
    const groups = PRINTED_ERROR.exec(line.trim())?.groups
    if (groups === undefined) return []
    const { file = '', row = '0', code = '', message = '' } = groups
    return [withSource({ code, message, location: { file, row: Number(row), col: 0 } }, toSource)]
  })
  if (located.length > 0) return located
  const reason = PANIC.exec(text)?.groups?.['reason']
  const message =
    reason === undefined
      ? text.replace(/^error: /, '').trim()
      : `the opa program panics on these policies (${reason}). Undo the latest change, or compile with another release (tidegate opa install)`
  return [{ code: 'opa_error', message }]
}

/**
 * Adds OPA's type details to errors. OPA prints them as text only: `printed` is the output of a run
 * over the same modules without `--format json`.
 */
export function withTypes(
  errors: readonly ErrorDetail[],
  printed: OpaRun,
  toSource: (file: string) => string,
): ErrorDetail[] {
  const types = new Map<string, string[]>()
  let current: string[] = []
  for (const line of (printed.stderr || printed.stdout).replace(/^error: /, '').split('\n')) {
    const [detail] = PRINTED_ERROR.test(line.trim()) ? parsePrinted(line, toSource) : []
    if (detail !== undefined) types.set(keyOf(detail), (current = []))
    else if (line.startsWith('\t')) current.push(line.replaceAll('\t', '  '))
  }
  return errors.map((error) => {
    const lines = error.code === 'rego_type_error' ? (types.get(keyOf(error)) ?? []) : []
    return { ...error, message: [error.message, ...lines].join('\n') }
  })
}

function keyOf({ message, location }: ErrorDetail): string {
  return `${location?.file}:${location?.row} ${message.split('\n')[0]}`
}

/**
 * Adds advice to errors about undefined functions and variables: similar names, or how to install
 * an OPA version that has the built-in.
 */
export async function withNearNames(
  errors: readonly ErrorDetail[],
  modules: readonly RegoModule[],
  opa: OpaProgram,
): Promise<ErrorDetail[]> {
  const functions = errors.map(({ message }) => UNDEFINED_FUNCTION.exec(message)?.groups?.['name'])
  const builtins = functions.every((name) => name === undefined) ? [] : await builtinNames(opa)
  const release = functions.some(isYounger) ? await opaRelease(opa) : ''
  return errors.map((error, index) => {
    const name = functions[index]
    const variable = UNSAFE_VARIABLE.exec(error.message)?.groups?.['name']
    const own = modules.find(({ file }) => file === error.location?.file)
    const hint = isForbidden(name, builtins, opa)
      ? `: ${opa.capabilities?.file} does not allow it. Add it to the capabilities file, or remove the call`
      : isYounger(name)
        ? `: OPA ${release} does not have it, and the one that \`tidegate opa install\` brings does`
        : name === undefined
          ? suggestion(variable === undefined ? undefined : nearestName(variable, ruleNames(modules, own)))
          : suggestion(
              nearestName(name, [
                ...functionNames(modules, own),
                ...(opa.capabilities?.builtins ?? builtins),
              ]),
            )
    return { ...error, message: `${error.message}${hint}` }
  })
}

/** True for a built-in function of the program that the configured capabilities leave out. */
function isForbidden(
  name: string | undefined,
  builtins: readonly string[],
  { capabilities }: OpaProgram,
): boolean {
  return name !== undefined && capabilities !== undefined && builtins.includes(name)
}

function isYounger(name: string | undefined): boolean {
  return name !== undefined && YOUNGER.includes(name)
}

async function builtinNames(opa: OpaProgram): Promise<string[]> {
  const { exitCode, stdout } = await runOpa(opa, ['capabilities', '--current'])
  return exitCode === 0 ? Capabilities.parse(JSON.parse(stdout)).builtins.map(({ name }) => name) : []
}

/**
 * Returns the functions of all modules by their full names, and those of a module's own package by
 * their short names.
 */
function functionNames(modules: readonly RegoModule[], own: RegoModule | undefined): string[] {
  const ownKey = own && pathKey(own.packagePath)
  return modules.flatMap(({ packagePath, rules }) => {
    const isSamePackage = pathKey(packagePath) === ownKey
    return rules
      .filter(({ isFunction }) => isFunction)
      .map(({ path }) => (isSamePackage ? path.join('.') : printDataRef([...packagePath, ...path])))
  })
}

/** Returns the first names of the rules in a module's package. */
function ruleNames(modules: readonly RegoModule[], own: RegoModule | undefined): string[] {
  const ownKey = own && pathKey(own.packagePath)
  return modules
    .filter(({ packagePath }) => pathKey(packagePath) === ownKey)
    .flatMap(({ rules }) => rules.flatMap(({ path, isFunction }) => (isFunction ? [] : (path[0] ?? []))))
}
