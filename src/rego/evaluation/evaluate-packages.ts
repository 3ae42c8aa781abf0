import { ALLOW_RULE } from '../values/verdict-rules.js'
import { allowStatement, documentStatement, joinStatements, notTrue } from './denials.js'
import type { Statement } from './denials.js'
import type { Denial } from './denial.js'
import { evaluateEntrypoints } from './evaluate-entrypoints.js'
import { questionOf } from './package-question.js'
import type { PackageQuestion, QuestionPart } from './package-question.js'
import { pathOfKey } from '../values/path-key.js'
import { printPackageName } from '../values/print-data-ref.js'
import { EMPTY_SET, RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { walkValue } from '../values/walk-value.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'
import { undefinedPolicy } from './evaluation-error.js'
import { inStageOrder } from './stage-order.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

/** The joint verdict of packages: allowed without denials. */
export interface Verdict {
  /**
   * Each text once per package, ordered by the stages it names, then by package, then in Rego's
   * order.
   */
  readonly denials: readonly Denial[]
}

export interface PackageOptions {
  /**
   * True if a package must state a verdict for every input. Otherwise one with undefined rules only
   * denies nothing.
   */
  readonly mustState: boolean
}

/**
 * Evaluates the denials of each package: its `deny` and `violation` rules, and an `allow` that is
 * not true. Skips packages without such rules. Raises `evaluation_failed` if one cannot be
 * evaluated and, without denials, if one states no verdict or no package has verdict rules. An
 * error is never an allow.
 */
export function evaluatePackages(
  snapshot: Snapshot,
  keys: readonly string[],
  input: Uint8Array | undefined,
  call: EvaluationCall,
  { mustState }: PackageOptions,
): Verdict {
  const { questions, entrypoints } = planFor(snapshot, keys)
  const values = evaluateEntrypoints(snapshot, entrypoints, input, call)
  let next = 0
  const answers = questions.map((question) => {
    const own = question.parts.map((part) => walked(part, values[next++]))
    return { question, statement: packageStatement(question, own, mustState) }
  })
  const denials: Denial[] = []
  for (const { question, statement } of answers) {
    if (typeof statement === 'string') continue
    for (const text of new Set(statement)) denials.push({ packageName: question.name, text })
  }
  if (denials.length === 0) {
    requireAnswered(keys, snapshot)
    requireStatements(answers, mustState)
  }
  return { denials: inStageOrder(denials, input) }
}

/** The questions for a list of packages. */
interface Plan {
  readonly questions: readonly PackageQuestion[]
  readonly entrypoints: readonly Entrypoint[]
}

const plans = new WeakMap<Snapshot, WeakMap<readonly string[], Plan>>()

/** Callers mostly evaluate the same lists, so plans are cached by the list itself. */
function planFor(snapshot: Snapshot, keys: readonly string[]): Plan {
  const known = plans.get(snapshot) ?? new WeakMap<readonly string[], Plan>()
  plans.set(snapshot, known)
  const plan = known.get(keys) ?? makePlan(snapshot, keys)
  known.set(keys, plan)
  return plan
}

function makePlan(snapshot: Snapshot, keys: readonly string[]): Plan {
  const questions = keys.map((key) => questionOf(snapshot, key)).filter(({ parts }) => parts.length > 0)
  const entrypoints = questions.flatMap(({ parts }) => parts.map(({ entrypoint }) => entrypoint))
  return { questions, entrypoints }
}

function walked({ rest }: QuestionPart, value: RegoValue | undefined): RegoValue | undefined {
  return value === undefined ? undefined : walkValue(value, rest)
}

function packageStatement(
  { name, parts, isKnown, hasAllow, isDenyAlone, baseDenials }: PackageQuestion,
  values: readonly (RegoValue | undefined)[],
  mustState: boolean,
): Statement {
  // As most of many do.
  if (isDenyAlone && values.every((value) => value === EMPTY_SET)) return []
  const documents = parts.flatMap(({ rule }, index) => (rule === undefined ? [toObject(values[index])] : []))
  const rules = {
    get: (name: string) =>
      values[parts.findLastIndex(({ rule }, index) => rule === name && values[index] !== undefined)],
  }
  const isAllowAlone = isKnown && parts.every(({ rule }) => rule === undefined)
  const own = isAllowAlone
    ? documents.map((document) => allowAloneStatement(document, name))
    : [documentStatement(rules, name), ...documents.map((document) => documentStatement(document, name))]
  const joined = joinStatements([...own, ...(baseDenials.length > 0 ? [baseDenials] : [])])
  const isAllowUndefined =
    hasAllow && [rules, ...documents].every((document) => document.get(ALLOW_RULE) === undefined)
  const lacksAllow = isAllowUndefined && (joined === 'undefined' ? mustState : joined.length === 0)
  return lacksAllow ? [notTrue(`${name}.${ALLOW_RULE}`)] : joined
}

/**
 * Base documents may be next to the rules. In a package without a deny rule, `deny` may be one of
 * them.
 */
function allowAloneStatement(document: RegoObject, name: string): Statement {
  const stated = allowStatement(document.get(ALLOW_RULE), `${name}.${ALLOW_RULE}`)
  if (stated !== 'undefined' || document.entries.length === 0) return stated
  return [notTrue(`${name}.${ALLOW_RULE}`)]
}

function toObject(value: RegoValue | undefined): RegoObject {
  return value instanceof RegoObject ? value : new RegoObject([])
}

/**
 * Raises `evaluation_failed` for a package with a verdict rule without an entrypoint, because its
 * verdict is unknown.
 */
function requireAnswered(keys: readonly string[], snapshot: Snapshot): void {
  const unanswered = keys.filter((key) => snapshot.unanswered.has(key))
  if (unanswered.length === 0) return
  const names = unanswered.map((key) => printPackageName(pathOfKey(key)))
  throw undefinedPolicy(
    `no verdict: the bundle of ${names.join(', ')} was built without an entrypoint for its verdict rules`,
  )
}

interface Answer {
  readonly question: PackageQuestion
  readonly statement: Statement
}

/** Raises `evaluation_failed` if a package neither denies nor allows. */
function requireStatements(answers: readonly Answer[], mustState: boolean): void {
  const silent = answers.filter(
    ({ statement, question: { isKnown } }) =>
      statement === 'null' || (statement === 'undefined' && isKnown && mustState),
  )
  if (silent.length > 0) {
    throw undefinedPolicy(
      `no verdict for this input: the verdict rules of ${silent.map(({ question }) => question.name).join(', ')} are undefined or null; write deny as a set, or give it a default`,
    )
  }
  const hasVerdict = answers.some(
    ({ statement, question }) => question.isKnown || typeof statement !== 'string',
  )
  if (!hasVerdict) {
    throw undefinedPolicy(
      'none of the evaluated packages states a verdict. Check the path, and that one of them has a deny, violation or allow rule',
    )
  }
}
