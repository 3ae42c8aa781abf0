import { verdictOf, warningOf } from '../values/verdict-rules.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import { printPackageName } from '../values/print-data-ref.js'
import type { Question } from '../slow/question.js'
import { RuleExplainer, fullPath } from './explain-rules.js'
import type { RuleExplanation } from './explain-rules.js'
import type { Labels } from './syntax-tree.js'
import type { Trace } from '../tracing/trace.js'
import type { TracedDefinition } from './traced-body.js'
import type { TracedPolicies } from './traced-policies.js'

/** Which rules an explanation shows, as in OPA: those that fired, those that did not, or both. */
export const EXPLAIN_MODES = ['notes', 'fails', 'full', 'debug'] as const
export type ExplainMode = (typeof EXPLAIN_MODES)[number]

/** Why the rules of a package have the values that they have. */
export interface PackageExplanation extends Labels {
  readonly package: string
  readonly rules: readonly RuleExplanation[]
}

/** Why an evaluation had its result. */
export interface Explanation {
  /** Packages with a rule that fired come first. */
  readonly packages: readonly PackageExplanation[]
  /** Rules that are not shown because there are too many. */
  readonly rulesLeftOut: number
  /** True if the evaluation had more values than a trace keeps. */
  readonly isCut: boolean
}

const MAX_RULES = 300

/** A question with the trace of its evaluation. */
interface TracedQuestion {
  readonly question: Question
  readonly trace: Trace
}

/** Returns the paths of the packages or rules that a question is about. */
export function pathsOf(question: Question): readonly (readonly string[])[] {
  switch (question.kind) {
    case 'static':
      return question.packages.map(pathOfKey)
    case 'advice':
      return [...question.rules, ...question.packages].map(pathOfKey)
    case 'runtime':
      return question.packages?.map(pathOfKey) ?? [question.path]
    case 'document':
      return [question.path]
  }
}

/** Explains the rules that questions are about from the traces of their evaluations. */
export function explainEvaluations(
  { definitions, packageLabels }: TracedPolicies,
  questions: readonly TracedQuestion[],
  mode: ExplainMode,
): Explanation {
  const asked = questions.flatMap(({ question, trace }) => {
    const explainer = new RuleExplainer(definitions, trace)
    return definitionsFor(definitions, question).map((definition) => ({ definition, explainer }))
  })
  const shown = asked
    .slice(0, MAX_RULES)
    .map(({ definition, explainer }) => ({ definition, rule: explainer.explain(definition) }))
    .filter(({ rule }) => isShown(rule, mode))
  const groups = new Map<string, RuleExplanation[]>()
  for (const { definition, rule } of shown) {
    const key = pathKey(definition.packagePath)
    groups.set(key, [...(groups.get(key) ?? []), rule])
  }
  const packages = [...groups].map(([key, rules]) => ({
    package: printPackageName(pathOfKey(key)),
    ...packageLabels.get(key),
    rules: rules.toSorted((a, b) => Number(hasFired(b)) - Number(hasFired(a))),
  }))
  return {
    packages: packages.toSorted((a, b) => Number(b.rules.some(hasFired)) - Number(a.rules.some(hasFired))),
    rulesLeftOut: Math.max(0, asked.length - MAX_RULES),
    isCut: questions.some(({ trace }) => trace.isCut),
  }
}

function hasFired({ outcome }: RuleExplanation): boolean {
  return outcome === 'fired'
}

function isShown({ outcome }: RuleExplanation, mode: ExplainMode): boolean {
  if (mode === 'notes') return outcome === 'fired' || outcome === 'default'
  return mode === 'fails' ? outcome === 'not_fired' : true
}

/**
 * Verdicts come from verdict rules. A document comes from the rule that its path leads to, or from
 * all rules below it.
 */
function definitionsFor(
  definitions: readonly TracedDefinition[],
  question: Question,
): readonly TracedDefinition[] {
  const at = (paths: readonly (readonly string[])[]): readonly TracedDefinition[] =>
    definitions.filter((definition) => {
      const own = fullPath(definition)
      return paths.some((path) =>
        own.slice(0, path.length).every((segment, place) => segment === path[place]),
      )
    })
  const isVerdict = ({ rulePath }: TracedDefinition): boolean => verdictOf(rulePath) !== undefined
  if (question.kind === 'advice')
    return [
      ...at(question.packages.map(pathOfKey)).filter(isVerdict),
      ...at(question.rules.map(pathOfKey)).filter(({ rulePath }) => warningOf(rulePath) !== undefined),
    ]
  const within = at(pathsOf(question))
  if (question.kind === 'document') return within.filter(({ isFunction }) => !isFunction)
  const verdicts = within.filter(isVerdict)
  return verdicts.length > 0 ? verdicts : within.filter(({ isFunction }) => !isFunction)
}
