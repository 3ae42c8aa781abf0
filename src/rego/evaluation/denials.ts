import { ALLOW_RULE, DENY_RULES } from '../values/verdict-rules.js'
import { printGoJson } from '../values/print-go-json.js'
import { RegoObject, RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { printPackageName } from '../values/print-data-ref.js'
import { pathKey, pathOfKey } from '../values/path-key.js'

/**
 * The verdict of a document: texts of denials (none for an allow), or no verdict, because its rules
 * are undefined, or null if they have a value.
 */
export type Statement = readonly string[] | 'undefined' | 'null'

/** The values of verdict rules by name. */
export interface VerdictMembers {
  readonly get: (rule: string) => RegoValue | undefined
}

/** The members of an object reason that may hold its text, in order of preference. */
const TEXT_MEMBERS: readonly string[] = ['msg', 'message', 'alertMsg', 'reason']

/**
 * Returns the denials of a `deny` or `violation` rule: no verdict if undefined or null, no denial
 * if false or empty, else one text for each reason. A reason without text gets the name of the
 * rule, so that no denial is lost.
 */
export function denyStatement(value: RegoValue | undefined, ruleName: string): Statement {
  if (value === undefined) return 'undefined'
  if (value === null) return 'null'
  if (value === false) return []
  if (value === true) return [`${ruleName} is true`]
  return reasons(value).map((reason) => reasonText(reason) || `${ruleName} gives no reason`)
}

/**
 * Returns the verdict of a document. Any denial wins: an `allow` that is not true next to an empty
 * `deny`, or a reason in `deny` next to `allow`. Undefined rules, and a deny rule that is null,
 * state nothing.
 */
export function documentStatement(members: VerdictMembers, name: string): Statement {
  const denials = DENY_RULES.map((rule) => {
    const value = members.get(rule)
    return value === undefined ? 'undefined' : denyStatement(value, `${name}.${rule}`)
  })
  return joinStatements([...denials, allowStatement(members.get(ALLOW_RULE), `${name}.${ALLOW_RULE}`)])
}

/** Returns the verdict of an `allow` rule: only true is an allow. */
export function allowStatement(value: RegoValue | undefined, ruleName: string): Statement {
  if (value === undefined) return 'undefined'
  return value === true ? [] : [notTrue(ruleName)]
}

/** Joins the texts of all verdicts. Without any, `null` if one is null. */
export function joinStatements(statements: readonly Statement[]): Statement {
  const stated = statements.filter((statement) => typeof statement !== 'string')
  if (stated.length > 0) return stated.flat()
  return statements.includes('null') ? 'null' : 'undefined'
}

/** The reason if `allow` is not true. */
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

/**
 * Returns the denials that base documents state, by package key. Base documents may deny but never
 * allow, because only rules know the input. A package named `allow` below another one denies if it
 * is not true.
 */
export function findBaseDenials(
  packages: readonly string[],
  data: RegoObject,
): Map<string, readonly string[]> {
  const denials = new Map<string, readonly string[]>()
  const known = new Set(packages)
  for (const key of packages) {
    const path = pathOfKey(key)
    for (const above of packagesWithAllowAbove(path)) {
      const name = printPackageName([...pathOfKey(above), ALLOW_RULE])
      if (known.has(above)) denials.set(above, [...new Set([...(denials.get(above) ?? []), notTrue(name)])])
    }
    const base = path.reduce(memberOf, data)
    const statement =
      base instanceof RegoObject ? documentStatement(base, printPackageName(path)) : 'undefined'
    if (typeof statement !== 'string' && statement.length > 0)
      denials.set(key, [...new Set([...statement, ...(denials.get(key) ?? [])])])
  }
  return denials
}

/** Returns the keys of paths with a child that must be true. */
function packagesWithAllowAbove(path: readonly string[]): string[] {
  return path.flatMap((segment, length) =>
    segment === ALLOW_RULE && length > 0 ? [pathKey(path.slice(0, length))] : [],
  )
}

function memberOf(value: RegoValue | undefined, name: string): RegoValue | undefined {
  return value instanceof RegoObject ? value.get(name) : undefined
}
