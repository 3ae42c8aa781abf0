import { AppError } from '../../errors/app-error.js'
import { isRecord } from '../../lib/validation/record.js'
import {
  evaluateDocument,
  evaluateWithAnswers,
  planDocument,
  ruleName,
  rulePath,
  type EvaluationCall,
  type OpaTest,
  type PolicyRequests,
  type Snapshot,
  type Strictness,
  type TestCase,
} from '../../rego/index.js'
import { detailText } from '../output/report-failure.js'

/** A test rule with a different result in the service than in `opa test`. */
export interface Difference {
  /** The rule, such as `a_test.test_x`. */
  readonly rule: string
  readonly file: string
  readonly row: number
  readonly opa: 'pass' | 'fail'
  readonly served: 'pass' | 'fail'
  /** Errors of the evaluation. */
  readonly notes: readonly string[]
}

/** Evaluation as in the service. */
export interface Serving {
  readonly requests: PolicyRequests
  /** Returns how failed built-ins are handled when a rule of this package is evaluated. */
  readonly strictnessOf: (packagePath: readonly string[]) => Strictness
}

/** Evaluates each test rule as the service does and returns those with a different result. */
export async function findDifferences(
  snapshot: Snapshot,
  tests: readonly OpaTest[],
  { requests, strictnessOf }: Serving,
): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const [rule, [first, ...others]] of groupByRule(tests)) {
    const opa = [first, ...others].some(({ outcome }) => outcome === 'pass') ? 'pass' : 'fail'
    const serving = { requests, strictness: strictnessOf(testedPackage(rulePath(first))) }
    const { outcome, notes } = await evaluateRule(snapshot, first, opa, serving)
    if (outcome !== opa)
      differences.push({ rule, file: first.file, row: first.row, opa, served: outcome, notes })
  }
  return differences
}

type Group = readonly [OpaTest, ...OpaTest[]]

/** Tests of the same name are one rule for the evaluator, which is true if one of them passes. */
function groupByRule(tests: readonly OpaTest[]): Map<string, Group> {
  const groups = new Map<string, Group>()
  for (const test of tests.filter(({ outcome }) => outcome !== 'skip')) {
    const name = ruleName(test)
    const present = groups.get(name)
    groups.set(name, present === undefined ? [test] : [...present, test])
  }
  return groups
}

async function evaluateRule(
  snapshot: Snapshot,
  test: OpaTest,
  opa: 'pass' | 'fail',
  { requests, strictness }: { readonly requests: PolicyRequests; readonly strictness: Strictness },
): Promise<{ outcome: 'pass' | 'fail'; notes: readonly string[] }> {
  const plan = planDocument(snapshot, rulePath(test))
  try {
    const evaluate = (call: EvaluationCall): string | undefined => evaluateDocument(plan, undefined, call)
    const value = await evaluateWithAnswers(evaluate, requests, strictness)
    const agrees = test.cases === undefined ? undefined : passesAlike(test.cases, value)
    // OPA passes a test only if its value is true.
    const outcome = agrees === undefined ? (value === 'true' ? 'pass' : 'fail') : agrees ? opa : opposite(opa)
    return { outcome, notes: [] }
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    return { outcome: 'fail', notes: [raw.message, ...raw.details.map(detailText)] }
  }
}

/** Returns the package that `a.b` or `a.b_test` tests. */
function testedPackage(rule: readonly string[]): readonly string[] {
  return rule
    .slice(0, -1)
    .map((name, at, names) => (at === names.length - 1 ? name.replace(/_test$/, '') : name))
}

/** Returns whether the document is true at exactly the cases that passed. */
function passesAlike(cases: readonly TestCase[], document: string | undefined): boolean {
  const root: unknown = document === undefined ? {} : JSON.parse(document)
  return cases.every(({ names, passes }) => {
    const value = names.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), root)
    return (value === true) === passes
  })
}

function opposite(outcome: 'pass' | 'fail'): 'pass' | 'fail' {
  return outcome === 'pass' ? 'fail' : 'pass'
}
