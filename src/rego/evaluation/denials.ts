import { ALLOW_RULE, DENY_RULES } from '../values/verdict-rules.js'
import { printGoJson } from '../values/print-go-json.js'
import { RegoObject, RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

/**
 * What a document says of a change: the texts against it, none for an allow; or that it states no verdict, since its
 * verdict rules are all undefined, or null where they have a value.
 */
export type Statement = readonly string[] | 'undefined' | 'null'

/** The values of verdict rules by their names. */
export interface VerdictMembers {
  readonly get: (rule: string) => RegoValue | undefined
}

/** The members of an object reason that hold its text, the first that is there first. */
const TEXT_MEMBERS: readonly string[] = ['msg', 'message', 'alertMsg', 'reason']

/**
 * What the value of a `deny` or `violation` rule states: nothing when it is undefined or null, no denial when it is false
 * or empty, else one text per reason. A reason without text gets one that names the rule: a denial is never lost for want
 * of a text.
 */
export function denyStatement(value: RegoValue | undefined, ruleName: string): Statement {
  if (value === undefined) return 'undefined'
  if (value === null) return 'null'
  if (value === false) return []
  if (value === true) return [`${ruleName} is true`]
  return reasons(value).map((reason) => reasonText(reason) || `${ruleName} gives no reason`)
}

/**
 * What a document with verdict rules states. Whatever says no wins: an `allow` that is not true beside an empty `deny`, or a
 * reason in `deny` beside an `allow` that is true. Rules that are undefined, and a deny rule that is null, say nothing.
 */
export function documentStatement(members: VerdictMembers, name: string): Statement {
  const denials = DENY_RULES.map((rule) => {
    const value = members.get(rule)
    return value === undefined ? 'undefined' : denyStatement(value, `${name}.${rule}`)
  })
  return joinStatements([...denials, allowStatement(members.get(ALLOW_RULE), `${name}.${ALLOW_RULE}`)])
}

/** What the value of an `allow` rule states: no denial only when it is true. */
export function allowStatement(value: RegoValue | undefined, ruleName: string): Statement {
  if (value === undefined) return 'undefined'
  return value === true ? [] : [notTrue(ruleName)]
}

/** All texts of those that state something; where none does, `null` when one of them is. */
export function joinStatements(statements: readonly Statement[]): Statement {
  const stated = statements.filter((statement) => typeof statement !== 'string')
  if (stated.length > 0) return stated.flat()
  return statements.includes('null') ? 'null' : 'undefined'
}

/** The text against something whose `allow` is not true. */
export function notTrue(allowName: string): string {
  return `${allowName} is not true`
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
