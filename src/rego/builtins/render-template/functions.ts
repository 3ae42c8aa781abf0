import { lengthOf as textLengthOf } from '../shared/call-costs.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { formatGo } from '../go-format/printf.js'
import { isTrue, lengthOf, printValue, TemplateNumber, toGoArgument } from './template-value.js'
import type { TemplateValue } from './template-value.js'

type Arguments = readonly TemplateValue[]

/** Steps per character of an argument: some functions compare, escape or print it. */
const CHARACTER_STEPS = 12

const FUNCTIONS: Readonly<Record<string, (args: Arguments, meter: WorkMeter) => TemplateValue>> = {
  and: (args) => args.find((arg) => !isTrue(arg)) ?? args.at(-1),
  or: (args) => args.find(isTrue) ?? args.at(-1),
  not: ([value]) => !isTrue(value),
  len: ([value]) => new TemplateNumber(BigInt(lengthOf(value) ?? fail(`len of type ${typeof value}`))),
  index: ([value, ...keys]) => keys.reduce(indexInto, value),
  slice: ([value, ...bounds]) => sliceOf(value, bounds),
  print,
  println: (args) => `${args.map(printArgument).join(' ')}\n`,
  printf: ([format, ...args], meter) => formatGo(printValue(format), args.map(toGoArgument), meter),
  html: (args) => print(asTexts(args)).replace(/[&<>"'\0]/g, (sign) => HTML[sign] ?? sign),
  js: (args) => print(asTexts(args)).replace(/[\\'"<>&=]|\p{C}|\p{Z}/gu, escapeForScript),
  urlquery: (args) => encodeQuery(print(asTexts(args))),
  eq: ([value, ...others]) => others.some((other) => isEqual(value, other)),
  ne: ([value, other]) => !isEqual(value, other),
  lt: ([value, other]) => compare(value, other) < 0,
  le: ([value, other]) => compare(value, other) <= 0,
  gt: ([value, other]) => compare(value, other) > 0,
  ge: ([value, other]) => compare(value, other) >= 0,
}

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
  '\0': '\ufffd',
}

const MIN_ARGUMENTS: Readonly<Record<string, number>> = {
  print: 0,
  println: 0,
  html: 0,
  js: 0,
  urlquery: 0,
}
const READS_ALL = new Set(['print', 'println', 'printf', 'html', 'js', 'urlquery'])
const COMPARISONS = new Set(['eq', 'ne', 'lt', 'le', 'gt', 'ge'])

export function isTemplateFunction(name: string): boolean {
  return Object.hasOwn(FUNCTIONS, name)
}

/** Calls a template function. Throws BuiltinError with Go's message, without position. */
export function callFunction(name: string, args: Arguments, meter: WorkMeter): TemplateValue {
  const least = COMPARISONS.has(name) ? 2 : (MIN_ARGUMENTS[name] ?? 1)
  if (args.length < least) {
    return fail(`wrong number of args for ${name}: want at least ${least} got ${args.length}`)
  }
  for (const arg of args) meter.spend(lengthOfArgument(arg, READS_ALL.has(name)) * CHARACTER_STEPS)
  try {
    return FUNCTIONS[name]?.(args, meter)
  } catch (raw) {
    throw raw instanceof BuiltinError ? new BuiltinError(`error calling ${name}: ${raw.message}`) : raw
  }
}

/** Most functions only use the size of a collection. */
function lengthOfArgument(value: TemplateValue, isReadWhole: boolean): number {
  if (value === undefined || value instanceof TemplateNumber) return 1
  return typeof value === 'string' || isReadWhole ? textLengthOf(value) : 1
}

function indexInto(value: TemplateValue, key: TemplateValue): TemplateValue {
  if (value instanceof RegoObject) {
    return typeof key === 'string' ? value.get(key) : fail('value has type int; should be string')
  }
  if (!Array.isArray(value)) return fail("can't index item of this type")
  if (!(key instanceof TemplateNumber)) return fail('cannot index slice/array with this type')
  const index = Number(key.value)
  if (index < 0 || index >= value.length) return fail(`index out of range: ${index}`)
  return value[index] as TemplateValue
}

/** Go's `a[i:j]`: strings by bytes, and arrays. Three bounds are permitted for arrays only. */
function sliceOf(value: TemplateValue, bounds: Arguments): TemplateValue {
  const text = textOf(value)
  const bytes = text === undefined ? undefined : Buffer.from(text)
  const members = Array.isArray(value) ? (value as readonly RegoValue[]) : undefined
  const { length } = bytes ?? members ?? fail("can't slice item of this type")
  if (bounds.length > (members === undefined ? 2 : 3)) return fail(`too many slice indexes: ${bounds.length}`)
  const [start = 0, end = length, capacity = length] = bounds.map((bound) =>
    bound instanceof TemplateNumber && typeof bound.value === 'bigint'
      ? Number(bound.value)
      : fail('cannot index slice/array with this type'),
  )
  for (const bound of [start, end, capacity]) {
    if (bound < 0 || bound > length) return fail(`index out of range: ${bound}`)
  }
  if (start > end || end > capacity) return fail(`invalid slice index: ${start} > ${end}`)
  return bytes?.subarray(start, end).toString() ?? members?.slice(start, end)
}

/** Go's `fmt.Sprint`: adds a space between two values that are not strings. */
function print(args: Arguments): string {
  return args.reduce<string>((text, arg, index) => {
    const isApart = index > 0 && !isText(arg) && !isText(args[index - 1])
    return `${text}${isApart ? ' ' : ''}${printArgument(arg)}`
  }, '')
}

/** For functions that escape, a missing value is a string. */
function asTexts(args: Arguments): Arguments {
  return args.map((arg) => arg ?? printValue(arg))
}

/** When printed, a missing value is a value, too. */
function printArgument(value: TemplateValue): string {
  return value === undefined || value === null ? '<nil>' : printValue(value)
}

/** Numbers of the data are also a string type in Go. */
function isText(value: TemplateValue): boolean {
  return textOf(value) !== undefined
}

/** Go's `template.JSEscapeString`. */
function escapeForScript(sign: string): string {
  if (/[\\'"]/.test(sign)) return `\\${sign}`
  const code = sign.codePointAt(0) ?? 0
  return sign === ' ' ? sign : `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** A missing value or null equals nothing else. Values of two kinds are not comparable. */
function isEqual(a: TemplateValue, b: TemplateValue): boolean {
  const [x, y] = [a ?? undefined, b ?? undefined]
  return x === undefined || y === undefined ? x === y : compare(x, y) === 0
}

/** Compares values of one kind. Numbers of the data compare as strings, like OPA's json.Number. */
function compare(a: TemplateValue, b: TemplateValue): number {
  if (a instanceof TemplateNumber && b instanceof TemplateNumber && typeof a.value === typeof b.value)
    return a.value < b.value ? -1 : Number(a.value > b.value)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  const [x, y] = [textOf(a), textOf(b)]
  if (x === undefined || y === undefined)
    return fail(`incompatible types for comparison: ${goTypeOf(a)} and ${goTypeOf(b)}`)
  return Buffer.compare(Buffer.from(x), Buffer.from(y))
}

function textOf(value: TemplateValue): string | undefined {
  return value instanceof RegoNumber ? value.text : typeof value === 'string' ? value : undefined
}

/** Returns Go's name of a value's type. */
function goTypeOf(value: TemplateValue): string {
  if (value instanceof TemplateNumber) return typeof value.value === 'bigint' ? 'int' : 'float64'
  if (typeof value === 'boolean') return 'bool'
  return value === undefined || value === null ? '<nil>' : toGoArgument(value).type
}

function encodeQuery(text: string): string {
  const encoded = encodeURIComponent(text).replaceAll('%20', '+')
  return encoded.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

function fail(problem: string): never {
  throw new BuiltinError(problem)
}
