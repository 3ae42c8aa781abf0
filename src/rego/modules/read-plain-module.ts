import type { RegoVersion } from '../opa/opa-release.js'
import { isClosing, readTokens } from './tokens/read-tokens.js'
import type { Token } from './tokens/read-tokens.js'
import type { RegoFile, RegoModule, RegoRule } from './rego-module.js'

/** The letters of words that are no names; `in` stands between two values as a sign does, and what no form below has is X. */
const WORDS = new Map(
  [
    ...['default D', 'else E', 'if F', 'contains K', 'import M', 'as Z', 'not N', 'in o'],
    ...['true t', 'false t', 'null t', 'package X', 'some X', 'every X', 'with X'],
  ].map((word) => word.split(' ') as [string, string]),
)
/** A name is n, a dot d, a text s, a number 0, `:=` w, a sign between values o; a bracket with all in it B, behind a name C or I, else P or A. */
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

/**
 * A module that is written so plainly that its rules are known without OPA's parser: each statement begins where a line does, goes
 * on behind that line in brackets only, and has one of the usual forms. Undefined for any other, and for much that is no Rego: whether the
 * rest is, the compiler tells.
 */
export function readPlainModule(file: RegoFile, version: RegoVersion): RegoModule | undefined {
  const { text } = file
  // Template strings have brackets in them.
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

/** The tokens of each statement; undefined where one goes on, or may begin, where it is not plain. */
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

/** What a statement consists of outside its brackets, a letter a token; of a sign of two letters that of the first and then of the second. */
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

/** `isTouching` is whether nothing stands between it and the token before it. */
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

/** Whether what stands in brackets behind the name of a rule, if anything, is one name or text, `deny[message]`, or parameters. */
function hasPlainKey(form: string, statement: readonly Token[]): boolean {
  const takes = form.search(/^n(?:dn)*C/) === 0 ? statement[form.indexOf('C') + 1] : undefined
  // In what is compiled, a function without parameters is a rule like others.
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
