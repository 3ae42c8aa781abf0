import { AppError } from '../errors.js'
import { printGoJson } from './rego/print-go-json.js'
import { RegoObject, RegoSet } from './rego/value.js'
import type { RegoValue } from './rego/value.js'

/** The rules whose value is a list of reasons against. */
export const DENY_RULES: readonly string[] = ['deny', 'violation']
/** The rule whose value must be true. */
export const ALLOW_RULE = 'allow'

/** The members of an object reason that hold its text, the first that is there first. */
const TEXT_MEMBERS: readonly string[] = ['msg', 'message', 'alertMsg', 'reason']

/**
 * The texts of a `deny` or `violation` rule's value: none when it is undefined, false, null or empty. A boolean rule
 * that is true, which has no text of its own, gets one that names it: a denial is never lost for want of a reason.
 */
export function denialTexts(value: RegoValue | undefined, ruleName: string): string[] {
  if (value === undefined || value === null || value === false) return []
  if (value === true) return [`${ruleName} is true`]
  return reasons(value).map((reason) => reasonText(reason) || `${ruleName} gives no reason`)
}

/** The texts against a document that holds a verdict itself: its deny rules, else an `allow` that is not true. */
export function documentDenials(
  document: RegoValue | undefined,
  name: string,
  options: { readonly undefinedDenies: boolean },
): string[] {
  const members = document instanceof RegoObject ? document : new RegoObject([])
  const deny = DENY_RULES.filter((rule) => members.get(rule) !== undefined)
  if (deny.length > 0) return deny.flatMap((rule) => denialTexts(members.get(rule), `${name}.${rule}`))
  const allow = members.get(ALLOW_RULE)
  if (allow === true || (members.entries.length === 0 && !options.undefinedDenies)) return []
  return [`${name}.${ALLOW_RULE} is not true`]
}

/** The texts against the value of a rule asked for by name. Raises `evaluation_failed` for a value that is no verdict. */
export function ruleDenials(value: RegoValue | undefined, path: readonly string[]): string[] {
  const name = path.join('.')
  const rule = path.at(-1) ?? ''
  if (DENY_RULES.includes(rule)) return denialTexts(value, name)
  if (rule === ALLOW_RULE)
    return value === true ? [] : isReasonList(value) ? denialTexts(value, name) : [`${name} is not true`]
  if (value === false) return [`${name} is false`]
  if (isReasonList(value)) return denialTexts(value, name)
  requireVerdict(value, name)
  return hasVerdict(value) ? documentDenials(value, name, { undefinedDenies: true }) : []
}

function reasons(value: RegoValue): readonly RegoValue[] {
  if (Array.isArray(value)) return value as readonly RegoValue[]
  if (value instanceof RegoSet) return value.members
  // `deny[id] := text` and `deny[text] := true`: a partial object has one reason per entry.
  if (value instanceof RegoObject) {
    return value.entries
      .filter(([, reason]) => reason !== false)
      .map(([key, reason]) => (reason === true ? key : reason))
  }
  return [value]
}

function reasonText(reason: RegoValue): string {
  if (typeof reason === 'string') return reason.trim()
  if (reason instanceof RegoObject) {
    const texts = TEXT_MEMBERS.map((member) => reason.get(member))
    const text = texts.find((candidate) => typeof candidate === 'string' && candidate.trim() !== '')
    if (typeof text === 'string') return text.trim()
  }
  return printGoJson(reason)
}

function isReasonList(value: RegoValue | undefined): boolean {
  if (value instanceof RegoSet) return value.members.length > 0
  return Array.isArray(value) && value.length > 0
}

function hasVerdict(value: RegoValue | undefined): boolean {
  return (
    value instanceof RegoObject && [...DENY_RULES, ALLOW_RULE].some((rule) => value.get(rule) !== undefined)
  )
}

/**
 * A rule that holds a text, a number or an object of other things says neither yes nor no: somebody asked for the wrong
 * rule, and must not be let through for it.
 */
function requireVerdict(value: RegoValue | undefined, name: string): void {
  const isSilent = value === undefined || value === true || Array.isArray(value) || value instanceof RegoSet
  const isEmpty = value instanceof RegoObject && value.entries.length === 0
  if (isSilent || isEmpty || hasVerdict(value)) return
  throw new AppError(
    'evaluation_failed',
    `${name} states no verdict: ask for its package, or for a rule like deny`,
    {
      code: 'undefined_policy',
    },
  )
}
