import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { opaRegoVersion, regoVersionFlags } from '../opa/opa-release.js'
import type { RegoVersion } from '../opa/opa-release.js'
import { runOpa } from '../opa/run-opa.js'
import { quoteKeywordMembers } from './locate-calls.js'
import { PACKAGE_LINE } from '../values/package-line.js'
import { verdictOf } from '../values/verdict-rules.js'
import { compileError, readOpaErrors } from './opa-errors.js'
import type { RegoFile, RegoModule, RegoRule } from './rego-module.js'
import { codeOnly } from './tokens/not-code.js'
import { expandTemplateStrings } from './tokens/template-strings.js'

/**
 * Parses all files in one run of OPA. Returns heads only, because bodies would be megabytes of
 * JSON.
 */
const PARSE_QUERY = `{file: {"package": {"path": module["package"].path}, "rules": rules} |
  module := rego.parse_module(file, input[file])
  rules := [{"head": head, "default": object.get(rule, "default", false)} |
    rule := object.get(module, "rules", [])[_]
    head := object.union(object.filter(rule.head, ["name", "ref", "args"]), {k: true | rule.head[k]; {"key", "value"}[k]})
  ]
}`

const Term = z.object({ type: z.string(), value: z.unknown() })
/** The part of OPA's syntax tree with the heads of rules. */
const ParsedModule = z.object({
  package: z.object({ path: z.array(Term) }),
  rules: z
    .array(
      z.object({
        default: z.boolean().optional(),
        head: z.object({
          name: z.string().optional(),
          ref: z.array(Term).optional(),
          args: z.unknown().optional(),
          key: z.unknown().optional(),
          value: z.unknown().optional(),
        }),
      }),
    )
    .default([]),
})
const ParseAnswer = z.object({
  result: z.array(
    z.object({ expressions: z.array(z.object({ value: z.record(z.string(), ParsedModule) })) }),
  ),
})
/** Types of constant keys that are not names of documents. */
const FIXED_KEYS: readonly string[] = ['number', 'boolean', 'null', 'array', 'object', 'set']
type ParsedModule = z.infer<typeof ParsedModule>
interface ParsedFile {
  readonly version: RegoVersion
  readonly module: ParsedModule
}
type ParsedFiles = ReadonlyMap<string, ParsedFile>

/**
 * Parses modules with OPA's parser and finds the Rego version of each: version 1 if it looks so and
 * parses, else the program's default version, else the other one. Syntax newer than the program is
 * rewritten. Raises `invalid` with file, line, column and OPA's message for each module that parses
 * in neither version.
 */
export async function parseModules(opa: OpaProgram, files: readonly RegoFile[]): Promise<RegoModule[]> {
  if (files.length === 0) return []
  const defaultVersion = await opaRegoVersion(opa)
  const texts = new Map(files.map((file) => [file.file, file]))
  const parsed = new Map<string, ParsedFile>()
  const missing = (): RegoFile[] => [...texts.values()].filter(({ file }) => !parsed.has(file))
  if (defaultVersion === 0) {
    // Version 0 parses `p := x if { … }` as two rules, so parsing alone does not show the version.
    await addAll(parsed, parseTogether(opa, files.filter(looksLikeVersion1).map(asVersion1), 1))
  }
  // Version 1 parses these calls, but has no such built-ins.
  if (defaultVersion === 1) await addAll(parsed, parseEach(opa, files.filter(callsRemovedBuiltin), 0))
  await addAll(parsed, parseTogether(opa, missing(), defaultVersion))
  if (defaultVersion === 0) {
    const older = missing()
      .map(inOlderSyntax)
      .filter(({ file, text }) => text !== texts.get(file)?.text)
    await addAll(parsed, parseTogether(opa, older.map(asVersion1), 1))
    // Errors show the original text of files that do not parse after the rewrite.
    for (const file of older) if (parsed.has(file.file)) texts.set(file.file, file)
  } else await addAll(parsed, parseTogether(opa, await inNewerWords(opa, missing()), 0))
  await addAll(parsed, parseOneByOne(opa, missing()))
  return [...texts.values()].flatMap((file) => {
    const found = parsed.get(file.file)
    return found === undefined ? [] : [toModule(file, found.version, found.module)]
  })
}

function inOlderSyntax(file: RegoFile): RegoFile {
  return { ...file, text: quoteKeywordMembers(expandTemplateStrings(file.text)) }
}

/**
 * Returns version 0 files rewritten as version 1 by `opa fmt` of OPA 1.x, with the same rules on
 * other lines; none if it fails for one of them. OPA 1.x parses only version 1 with
 * `rego.parse_module`, and one run for each file would take a minute for a thousand files.
 */
async function inNewerWords(opa: OpaProgram, files: readonly RegoFile[]): Promise<RegoFile[]> {
  if (files.length === 0) return []
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (cwd) => {
    const name = (index: number): string => join(cwd, `${index}.rego`)
    for (const [index, { text }] of files.entries()) await writeFile(name(index), text)
    const run = await runOpa(opa, ['fmt', '--v0-compatible', '--v0-v1', '--write', '.'], { cwd })
    if (run.exitCode !== 0) return []
    return await Promise.all(
      files.map(async ({ file }, index) => ({ file, text: await readFile(name(index), 'utf8') })),
    )
  })
}

async function addAll<K, V>(target: Map<K, V>, more: Promise<ReadonlyMap<K, V>>): Promise<void> {
  for (const [key, value] of await more) target.set(key, value)
}

async function parseTogether(
  opa: OpaProgram,
  files: readonly RegoFile[],
  version: RegoVersion,
): Promise<ParsedFiles> {
  if (files.length === 0) return new Map()
  const input = JSON.stringify(Object.fromEntries(files.map(({ file, text }) => [file, text])))
  const run = await runOpa(opa, ['eval', '--format', 'json', '--stdin-input', PARSE_QUERY], { stdin: input })
  if (run.exitCode !== 0) return new Map()
  const answer = readAnswer(opa, run.stdout)
  const modules = Object.entries(answer.result[0]?.expressions[0]?.value ?? {})
  return new Map(modules.map(([file, module]) => [file, { version, module }]))
}

function readAnswer(opa: OpaProgram, stdout: string): z.infer<typeof ParseAnswer> {
  try {
    return ParseAnswer.parse(JSON.parse(stdout))
  } catch (cause) {
    throw new AppError(
      'unavailable',
      `${opa.path} (from ${opa.source}) does not respond like opa. Name another program with --opa or OPA_BIN`,
      {
        cause,
      },
    )
  }
}

/**
 * Rewrites a file so that OPA with version 0 as default parses it as version 1. Lines stay: the
 * import follows the package on its line, where OPA accepts a space but no semicolon.
 */
export function asVersion1({ file, text }: RegoFile): RegoFile {
  return { file, text: text.replace(PACKAGE_LINE, '$<line> import rego.v1') }
}

/** Parses files one by one in one version, and skips those that fail. */
async function parseEach(
  opa: OpaProgram,
  files: readonly RegoFile[],
  version: RegoVersion,
): Promise<ParsedFiles> {
  if (files.length === 0) return new Map()
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    const parsed = new Map<string, ParsedFile>()
    for (const { file, text } of files) {
      await writeFile(join(directory, 'module.rego'), text)
      const { run } = await parseAs(opa, directory, version)
      if (run.exitCode === 0) parsed.set(file, { version, module: readModule(run.stdout) })
    }
    return parsed
  })
}

/** Parses files one by one, in either version. Raises `invalid` for those that parse in neither. */
async function parseOneByOne(opa: OpaProgram, files: readonly RegoFile[]): Promise<ParsedFiles> {
  if (files.length === 0) return new Map()
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    const parsed = new Map<string, ParsedFile>()
    const problems: ErrorDetail[] = []
    for (const file of files) {
      await writeFile(join(directory, 'module.rego'), file.text)
      const versions: readonly RegoVersion[] = looksLikeVersion1(file) ? [0, 1] : [1, 0]
      const runs = await Promise.all(versions.map((version) => parseAs(opa, directory, version)))
      const good = runs.find(({ run }) => run.exitCode === 0)
      if (good !== undefined)
        parsed.set(file.file, { version: good.version, module: readModule(good.run.stdout) })
      else problems.push(...runs.slice(1).flatMap(({ run }) => readOpaErrors(run, () => file.file)))
    }
    if (problems.length > 0) throw compileError(problems)
    return parsed
  })
}

/** Prints the syntax tree of `module.rego` in a directory as JSON. */
export async function parseAs(opa: OpaProgram, cwd: string, version: RegoVersion) {
  const flags = await regoVersionFlags(opa, version)
  return { version, run: await runOpa(opa, ['parse', '--format', 'json', ...flags, 'module.rego'], { cwd }) }
}

function readModule(stdout: string): ParsedModule {
  return ParsedModule.parse(JSON.parse(stdout))
}

function toModule(file: RegoFile, version: RegoVersion, module: ParsedModule): RegoModule {
  const packagePath = module.package.path.slice(1).map(({ value }) => String(value))
  return { ...file, version, packagePath, rules: module.rules.map(toRule) }
}

function toRule({ head, default: isDefault = false }: ParsedModule['rules'][number]): RegoRule {
  const ref = head.ref ?? [{ type: 'var', value: head.name }]
  const firstDynamic = ref.findIndex(({ type }, index) => index > 0 && type !== 'string')
  const fixed = firstDynamic === -1 ? ref : ref.slice(0, firstDynamic)
  return {
    path: textsOf(fixed),
    isDynamic: firstDynamic !== -1,
    isFunction: head.args !== undefined,
    isSet: head.key !== undefined && head.value === undefined,
    isDefault,
    excludesData: !FIXED_KEYS.includes(ref[firstDynamic]?.type ?? ''),
    hidesVerdict:
      firstDynamic !== -1 && verdictOf(textsOf(fixed)) === undefined && verdictOf(textsOf(ref)) !== undefined,
  }
}

function textsOf(ref: readonly z.infer<typeof Term>[]): string[] {
  return ref.map(({ value }) => String(value))
}

/** Built-ins that version 1 does not have. */
const REMOVED_BUILTIN =
  /(?<![\w.])(?:all|any|cast_(?:array|boolean|null|object|set|string)|net\.cidr_overlap|re_match|set_diff)\(/

/** True for a file with `import future.keywords` that calls a built-in of version 0 only. */
export function callsRemovedBuiltin({ text }: RegoFile): boolean {
  if (!text.includes('future')) return false
  const code = codeOnly(text)
  return /\bimport\s+future\b/.test(code) && REMOVED_BUILTIN.test(code)
}

/**
 * True if the file has keywords of version 1. Version 0 parses files that import `future.keywords`,
 * or `if` from it, and allows more in them.
 */
export function looksLikeVersion1({ text }: RegoFile): boolean {
  const code = codeOnly(text)
  if (/\simport\s+future\.keywords(?:\.if)?\s*$/m.test(code)) return false
  return /\simport\s+rego\.v1|\s(?:if|contains|in|every)\b/.test(code)
}
