import type { Config } from '../config/config.js'
import { Subject } from '../enforcement/about/subject.js'
import { PartsOfPackages } from '../enforcement/evaluated-parts.js'
import { Levels } from '../enforcement/levels.js'
import { AppError } from '../errors/app-error.js'
import {
  parseDataPath,
  pathOfKey,
  planDocument,
  printPackageName,
  type Question,
  type TracedPolicies,
} from '../rego/index.js'
import type { ExplainableDecision, RecordedFindings } from './recorded-findings.js'

interface EvaluatedPackages {
  readonly keys: readonly string[]
  readonly findings: RecordedFindings
  readonly levels: Config['policies']['levels']
  /** True if a caller named the package. */
  readonly isNamed: boolean
}

/**
 * Returns the questions of a decision: the one for its verdict, unless every package only
 * warned, and the one for its warnings. Levels of the configuration may have changed, so the record
 * takes precedence.
 */
export function questionsFor(
  decision: ExplainableDecision,
  { snapshot }: TracedPolicies,
  { keys, findings: { denying, warning }, levels, isNamed }: EvaluatedPackages,
): readonly Question[] {
  const question = questionFor(decision, keys)
  if (question.kind === 'document' || question.kind === 'advice') return [question]
  const isRuntime = question.kind === 'runtime'
  const evaluated = isRuntime && keys.length === 0 ? planDocument(snapshot, question.path).packages : keys
  if (evaluated.length === 0) return [question]
  const subject = new Subject(decision.input ?? undefined)
  const { enforced, advice } = new PartsOfPackages(new Levels(levels)).divide(
    ...([snapshot, evaluated, isRuntime, subject, decision.timeMs] as const),
  )
  const { packages = [], rules = [], mustState = isRuntime } = advice ?? {}
  const nameOf = (key: string): string => printPackageName(pathOfKey(key))
  const warns = evaluated.filter((key) => {
    const name = nameOf(key)
    return warning.has(name) || (packages.includes(key) && !denying.has(name))
  })
  const denies = evaluated.filter((key) => {
    if (warns.includes(key)) return false
    return enforced.includes(key) || denying.has(nameOf(key)) || (isNamed && !rules.includes(key))
  })
  return [
    ...(denies.length > 0 ? [questionFor(decision, denies)] : []),
    ...(warns.length + rules.length > 0
      ? [{ kind: 'advice', packages: warns, rules, mustState } as const]
      : []),
  ]
}

/** Returns the question of a decision about all of its packages, or about some. */
export function questionFor({ kind, path }: ExplainableDecision, packages: readonly string[]): Question {
  switch (kind) {
    case 'static':
      return { kind: 'static', packages }
    case 'runtime':
      return {
        kind: 'runtime',
        path: parseDataPath(path),
        ...(packages.length > 0 && { packages }),
      }
    case 'data':
    case 'default':
      return { kind: 'document', path: parseDataPath(path) }
    case 'query':
      throw new AppError('invalid', 'Ad-hoc queries cannot be explained. Evaluate a rule instead.')
  }
}
