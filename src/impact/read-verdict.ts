import { isRecord } from '../lib/validation/record.js'
import { DENY_RULES, VERDICT_RULES, verdictOf, type PackageDenials } from '../rego/index.js'
import type { DecisionOutcome } from '../store/ports/decision-store.js'

/** A document of the Data API as an answer: a verdict if it is one, else its value. */
export interface DocumentAnswer {
  readonly outcome: DecisionOutcome
  readonly reasons: readonly PackageDenials[]
  readonly value?: string | undefined
}

/**
 * Reads the value of a document (JSON text, undefined if it is undefined) at a path of `data`. A
 * value of `deny`, `violation` or `allow`, or an object with one of them, is a verdict. Clients use
 * it as one, so a change of it is a flip.
 */
export function readVerdict(path: readonly string[], text: string | undefined): DocumentAnswer {
  const named = verdictOf(path)
  if (text === undefined) return ofUndefined(path, named?.rule)
  const value = named === undefined && !mayHoldVerdict(text) ? undefined : (JSON.parse(text) as unknown)
  const name = packageName(named === undefined ? path : path.slice(0, path.indexOf(named.rule)))
  const members = named === undefined ? value : { [named.rule]: value }
  // A path below a verdict rule, such as deny/0, is a part of its value.
  const isPart = named !== undefined && path.at(-1) !== named.rule
  const verdict = isPart || !isRecord(members) ? undefined : verdictIn(name, members)
  return verdict === undefined
    ? { outcome: 'defined', reasons: [], value: text }
    : { ...verdict, value: text }
}

/** An undefined `allow` does not allow. Other undefined documents are no verdict. */
function ofUndefined(path: readonly string[], rule: string | undefined): DocumentAnswer {
  if (rule !== 'allow' || path.at(-1) !== rule) return { outcome: 'undefined', reasons: [] }
  const name = packageName(path.slice(0, -1))
  return { outcome: 'deny', reasons: [{ package: name, deny: ['allow is undefined'] }] }
}

function mayHoldVerdict(text: string): boolean {
  return text.startsWith('{') && VERDICT_RULES.some((rule) => text.includes(`"${rule}"`))
}

function verdictIn(
  name: string,
  members: Readonly<Record<string, unknown>>,
): Pick<DocumentAnswer, 'outcome' | 'reasons'> | undefined {
  const lists = DENY_RULES.flatMap((rule) => {
    const list = reasonsIn(members[rule])
    return list === undefined ? [] : [list]
  })
  const allow = members['allow']
  if (lists.length === 0 && typeof allow !== 'boolean') return undefined
  const deny = lists.flat()
  const isDenied = deny.length > 0 || allow === false
  return {
    outcome: isDenied ? 'deny' : 'allow',
    reasons: isDenied ? [{ package: name, deny: deny.length > 0 ? deny : ['allow is false'] }] : [],
  }
}

/** Reasons of a deny rule (docs/reference/verdicts.md); undefined if it states none. */
function reasonsIn(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean') return value ? ['deny is true'] : []
  if (Array.isArray(value)) return (value as readonly unknown[]).map(reasonText)
  if (typeof value !== 'object') return [reasonText(value)]
  return Object.entries(value).flatMap(([name, flag]) => (flag === false ? [] : [name]))
}

/** Members of an object that hold its text. */
const TEXT_MEMBERS = ['msg', 'message', 'alertMsg', 'reason']

function reasonText(reason: unknown): string {
  if (typeof reason === 'string') return reason
  const texts = isRecord(reason) ? TEXT_MEMBERS.map((name) => reason[name]) : []
  return texts.find((text) => typeof text === 'string') ?? JSON.stringify(reason)
}

function packageName(path: readonly string[]): string {
  return path.join('.')
}
