import { AppError } from '../../errors/app-error.js'
import { isRecord } from '../../lib/validation/record.js'
import {
  evaluateDocument,
  evaluateWithAnswers,
  planDocument,
  type EvaluationCall,
  type PolicyRequests,
  type Snapshot,
  type Strictness,
} from '../../rego/index.js'
import { detailText } from '../output/report-failure.js'
import { ruleName, rulePath } from './opa-tests.js'
import type { OpaTest, TestCase } from './opa-tests.js'

/** A test rule that the service would answer differently than `opa test` does. */
export interface Difference {
  /** The rule, `a_test.test_x`. */
  readonly rule: string
  readonly file: string
  readonly row: number
  readonly opa: 'pass' | 'fail'
  readonly served: 'pass' | 'fail'
  /** What the evaluator raised, where it did. */
  readonly notes: readonly string[]
}

/** How the service would evaluate. */
export interface Serving {
  readonly requests: PolicyRequests
  /** The strictness of what the package at a path answers. */
  readonly strictnessOf: (packagePath: readonly string[]) => Strictness
}

/** Evaluates each test rule again as the service does, and gives those that end otherwise. */
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

/** Several tests of one name are one rule for the evaluator, which is true when one of them is. */
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
    // OPA takes nothing but true for a test that passes.
    const outcome = agrees === undefined ? (value === 'true' ? 'pass' : 'fail') : agrees ? opa : opposite(opa)
    return { outcome, notes: [] }
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    return { outcome: 'fail', notes: [raw.message, ...raw.details.map(detailText)] }
  }
}

/** The package that a rule of `a.b` or `a.b_test` tests. */
function testedPackage(rule: readonly string[]): readonly string[] {
  return rule
    .slice(0, -1)
    .map((name, at, names) => (at === names.length - 1 ? name.replace(/_test$/, '') : name))
}

/** Whether the document of a rule with cases holds those that passed, and no other: it is true at their names. */
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
