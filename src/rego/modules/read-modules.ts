import { AppError } from '../../errors/app-error.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { opaRegoVersion } from '../opa/opa-release.js'
import { pathKey } from '../values/path-key.js'
import { listRules } from '../wasm/module/export-rules.js'
import { isGenerated } from './generated-entrypoints.js'
import { callsRemovedBuiltin, looksLikeVersion1, parseModules } from './parse-modules.js'
import type { RegoFile, RegoModule, RegoRule } from './rego-module.js'
import type { RegoVersion } from '../opa/opa-release.js'
import { isClosing, readTokens } from './tokens/read-tokens.js'
import type { Token } from './tokens/read-tokens.js'

/** The letter of each keyword. `in` counts as an operator. X is in none of the forms below. */
const WORDS = new Map(
  [
    ...['default D', 'else E', 'if F', 'contains K', 'import M', 'as Z', 'not N', 'in o'],
    ...['true t', 'false t', 'null t', 'package X', 'some X', 'every X', 'with X'],
  ].map((word) => word.split(' ') as [string, string]),
)

/**
 * Letters of tokens: name n, dot d, string s, number 0, `:=` w, operator o. A bracket with its
 * contents is B for braces, C or I after a name, else P or A.
 */
const VALUE = '(?:[nts0ABP](?:dn|I|C)*)'
const VALUES = `(?:${VALUE}(?:o${VALUE})*)`
const BODY = `(?:F(?:N?${VALUES}|${VALUES}[w=]${VALUES}))`
const IS = `(?:[w=]${VALUES})`
const IMPORT = new RegExp(`^M${VALUE}(?:Zn)?$`)
const DEFAULT = new RegExp(`^Dn${IS}$`)

const RULE: Readonly<Record<RegoVersion, RegExp>> = {
  0: new RegExp(`^n(?:[CI]?B|C?${IS}B?)$`),
  1: new RegExp(`^n(?:dn)*(?:C?(?:${BODY}|${IS}${BODY}?)(?:E${IS}?${BODY}?)*|K${VALUES}${BODY}?)$`),
}

const IN_ASCII = /^[!-~]+$/

/** `==`, `!=`, `<=` and `>=`. */
const SIGN_OF_TWO = /[=!<>]=/g
const PACKAGE = /^package\s+(?<path>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)$/

/** Modules that OPA's parser has not parsed. */
const unconfirmed = new WeakSet<RegoModule>()

function isConfirmed(module: RegoModule): boolean {
  return !unconfirmed.has(module)
}

/**
 * Returns the modules of all files in order. Modules in a plain form are read here, all others by
 * `parseModules`, with its errors. Compiling shows if a plain module is valid Rego of the expected
 * version; if it fails, `confirmModules` parses the module. Raises `invalid` for files of equal
 * names, because one would replace the other.
 */
export async function readModules(opa: OpaProgram, files: readonly RegoFile[]): Promise<RegoModule[]> {
  if (files.length === 0) return []
  refuseEqualNames(files)
  const defaultVersion = await opaRegoVersion(opa)
  const read = new Map<string, RegoModule>()
  for (const file of files) {
    const isOlder = defaultVersion === 0 ? !looksLikeVersion1(file) : callsRemovedBuiltin(file)
    // Version 0 with keywords of version 1 has forms of both.
    const module =
      isOlder && file.text.includes('import') && /\bfuture\b/.test(file.text)
        ? undefined
        : readPlainModule(file, isOlder ? 0 : 1)
    if (module === undefined) continue
    unconfirmed.add(module)
    read.set(file.file, module)
  }
  return await withParsed(opa, files, read)
}

function refuseEqualNames(files: readonly RegoFile[]): void {
  const names = new Set<string>()
  for (const { file } of files) {
    if (names.has(file))
      throw new AppError(
        'invalid',
        `two files of the policies are named ${file}: rename one, or the source or directory that it is in`,
      )
    names.add(file)
  }
}

/**
 * Returns modules as OPA's parser reads them; unchanged modules keep their identity. Raises as
 * `parseModules`.
 */
export async function confirmModules(opa: OpaProgram, modules: readonly RegoModule[]): Promise<RegoModule[]> {
  const known = new Map(modules.filter(isConfirmed).map((module) => [module.file, module]))
  const confirmed = await withParsed(opa, modules, known)
  return confirmed.map((module, place) => {
    const before = modules[place]
    if (before === undefined || JSON.stringify(before) !== JSON.stringify(module)) return module
    unconfirmed.delete(before)
    return before
  })
}

/** Error code for compiled rules that were not read. */
export const UNREAD_RULES = 'unread_rules'

/**
 * Raises `invalid` if OPA compiled a rule that unparsed modules do not list. Such a module was read
 * wrongly, and the rule would be missing.
 */
export function refuseUnreadRules(modules: readonly RegoModule[], wasm: Uint8Array): void {
  if (modules.every(isConfirmed)) return
  const known = new Set(modules.flatMap(keysOf))
  const unread = listRules(wasm).find((key) => !known.has(key) && !isGenerated(key))
  if (unread !== undefined)
    throw new AppError('invalid', `OPA has a rule ${unread} that was not read`, { code: UNREAD_RULES })
}

/**
 * OPA compiles a function without parameters as a rule. Functions in plain modules have parameters.
 */
function keysOf(module: RegoModule): string[] {
  const rules = isConfirmed(module) ? module.rules : module.rules.filter(({ isFunction }) => !isFunction)
  return rules.map(({ path }) => pathKey([...module.packagePath, ...path]))
}

async function withParsed(
  opa: OpaProgram,
  files: readonly RegoFile[],
  known: ReadonlyMap<string, RegoModule>,
): Promise<RegoModule[]> {
  const parsed = await parseModules(
    opa,
    files.filter(({ file }) => !known.has(file)),
  )
  const all = new Map([...known, ...parsed.map((module) => [module.file, module] as const)])
  return files.flatMap(({ file }) => all.get(file) ?? [])
}

/**
 * Reads a module in a plain form without OPA's parser: each statement begins at the start of a
 * line, continues on later lines only within brackets, and has one of the usual forms. Undefined
 * for other modules and for much invalid Rego; the compiler reports the rest.
 */
export function readPlainModule(file: RegoFile, version: RegoVersion): RegoModule | undefined {
  const { text } = file
  if (/\$["`]/.test(text)) return undefined
  const [head = [], ...statements] = statementsOf(text) ?? []
  const packagePath = PACKAGE.exec(textOf(head, text))?.groups?.['path']?.split('.')
  if (packagePath === undefined) return undefined
  const rules: RegoRule[] = []
  for (const statement of statements) {
    const form = formOf(statement)
    if (IMPORT.test(form)) continue
    const isRule = DEFAULT.test(form) || (RULE[version].test(form) && hasPlainKey(form, statement))
    if (!isRule) return undefined
    rules.push(ruleOf(form, statement))
  }
  return { ...file, version, packagePath, rules }
}

/** Returns the tokens of each statement; undefined if a statement is not in plain form. */
function statementsOf(text: string): Token[][] | undefined {
  const statements: Token[][] = []
  for (const token of readTokens(text).tokens) {
    if (token.kind === 'sign' && !IN_ASCII.test(token.text)) return undefined
    if (token.depth === 0 && token.isFirstOnLine && !isClosing(token)) {
      const isPlain = token.kind === 'name' && (token.offset === 0 || text[token.offset - 1] === '\n')
      if (!isPlain) return undefined
      statements.push([])
    }
    statements.at(-1)?.push(token)
  }
  return statements
}

/**
 * Returns the letters of a statement's tokens outside of brackets. An operator of two characters
 * has two letters.
 */
function formOf(statement: readonly Token[]): string {
  let form = ''
  let before: Token | undefined
  for (const [at, token] of statement.entries()) {
    if (token.depth > 0 || isClosing(token)) {
      before = token
      continue
    }
    const isTouching = before !== undefined && before.offset + before.text.length === token.offset
    form += letterOf(token, isTouching, statement[at + 1])
    before = token
  }
  return form.replace(SIGN_OF_TWO, 'o').replaceAll(/[!<>]/g, (sign) => (sign === '!' ? 'X' : 'o'))
}

/** `isTouching` is true if no white space precedes the token. */
function letterOf({ kind, text, offset }: Token, isTouching: boolean, next: Token | undefined): string {
  if (kind === 'string') return 's'
  if (kind === 'number') return '0'
  if (kind === 'name') {
    const isCall = next?.text === '(' && next.offset === offset + text.length
    return isCall ? 'n' : (WORDS.get(text) ?? 'n')
  }
  if (text === '{') return 'B'
  if (text === '(') return isTouching ? 'C' : 'P'
  if (text === '[') return isTouching ? 'I' : 'A'
  if (text === '.') return isTouching && next?.offset === offset + 1 ? 'd' : 'X'
  if (text === ':=') return 'w'
  return '=!<>'.includes(text) ? text : '+-*/%&|'.includes(text) ? 'o' : 'X'
}

/**
 * True if the brackets after a rule's name are a single name or string (`deny[message]`), or
 * parameters.
 */
function hasPlainKey(form: string, statement: readonly Token[]): boolean {
  const takes = form.search(/^n(?:dn)*C/) === 0 ? statement[form.indexOf('C') + 1] : undefined
  // OPA compiles a function without parameters as a rule.
  if (takes?.text === ')') return false
  return !form.startsWith('nI') || (statement[2]?.kind !== 'sign' && statement[3]?.text === ']')
}

function ruleOf(form: string, statement: readonly Token[]): RegoRule {
  const [head = ''] = /^D?n(?:dn)*/.exec(form) ?? []
  const names = statement.slice(0, head.length).filter((_, at) => head[at] === 'n')
  return {
    path: names.map(({ text }) => text),
    isDynamic: false,
    isFunction: form[head.length] === 'C',
    isSet: form[head.length] === 'K' || /^nI(?![w=])/.test(form),
    isDefault: form.startsWith('D'),
    excludesData: true,
    hidesVerdict: false,
  }
}

function textOf(tokens: readonly Token[], text: string): string {
  const last = tokens.at(-1)
  return last === undefined ? '' : text.slice(tokens[0]?.offset, last.offset + last.text.length)
}
