import { expect, test } from 'vitest'

import { toAppError } from '../../../src/errors/app-error.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { callGraph } from '../../support/call-graphs.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { loadPolicies } from '../../support/load-policies.js'
import { seededRandom } from '../../support/random-bytes.js'

/** Number of graphs; set CALL_GRAPHS=2000 for more. */
const GRAPHS = Number(process.env['CALL_GRAPHS'] ?? 60)
const SEED = Number(process.env['CALL_GRAPHS_SEED'] ?? 20_261_127)
const PACKAGES_A_SNAPSHOT = 30
/** The iteration limit ends them before the time limit. */
const LIMITS = { ...DEFAULT_LIMITS, loopIterations: 200_000, maxDurationMs: Infinity }

/** Returns `value` for a defined value, or the code of the error. */
function outcomeOf(snapshot: Snapshot, name: string): string {
  const plan = planDocument(snapshot, [name, 'answer'])
  try {
    return evaluateDocument(plan, Buffer.from('{"n": 3}'), newCall()) === undefined ? 'undefined' : 'answered'
  } catch (raw) {
    return toAppError(raw).code
  }
}

test(
  'functions and rules that evaluate the next ones several times answer or end by their budget',
  async () => {
    const random = seededRandom(SEED)
    const outcomes: string[] = []
    for (let from = 0; from < GRAPHS; from += PACKAGES_A_SNAPSHOT) {
      const names = Array.from({ length: PACKAGES_A_SNAPSHOT }, (_, place) => `graph${from + place}`)
      const files = Object.fromEntries(names.map((name) => [`${name}.rego`, callGraph(name, random)]))
      const snapshot = await loadPolicies(files, LIMITS)
      outcomes.push(...names.map((name) => outcomeOf(snapshot, name)))
    }
    expect(new Set(outcomes)).toEqual(new Set(['answered', 'evaluation_budget_exceeded']))
  },
  60_000 + GRAPHS * 1000,
)
