import { parseArgs } from 'node:util'

import { AppError } from '../../src/errors/app-error.js'
import { threadCpuMs } from '../../src/lib/threads/thread-cpu-time.js'
import { evaluateDocument, planDocument } from '../../src/rego/evaluation/evaluate-document.js'
import type { DocumentPlan } from '../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../src/rego/evaluation/new-call.js'
import { EvaluationSlice, SliceOver } from '../../src/rego/wasm/evaluation-budget.js'
import { callGraph } from '../../test/support/call-graphs.js'
import { DEFAULT_LIMITS } from '../../test/support/default-limits.js'
import { loadPolicies } from '../../test/support/load-policies.js'
import { seededRandom } from '../../test/support/random-bytes.js'

const { values: flags } = parseArgs({
  options: {
    graphs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '20261127' },
    budget: { type: 'string', default: '100' },
  },
})
const PACKAGES_A_SNAPSHOT = 50
const INPUT = Buffer.from('{"n": 3}')

interface Overrun {
  readonly name: string
  readonly overMs: number
}

const ends = new Map<string, number>()
const overruns: Overrun[] = []

/** Evaluates once and records the CPU time of the thread beyond the limit, in milliseconds. */
function measure(name: string, limitMs: number, evaluate: () => unknown): void {
  const beginMs = threadCpuMs()
  let end = 'answered'
  try {
    evaluate()
  } catch (raw) {
    if (raw instanceof SliceOver) end = 'slice over'
    else end = raw instanceof AppError ? raw.message : String(raw)
  }
  overruns.push({ name, overMs: threadCpuMs() - beginMs - limitMs })
  ends.set(end, (ends.get(end) ?? 0) + 1)
}

const random = seededRandom(Number(flags.seed))
const budgetMs = Number(flags.budget)
const limits = { ...DEFAULT_LIMITS, maxDurationMs: budgetMs, loopIterations: 2_000_000_000 }
for (let from = 0; from < Number(flags.graphs); from += PACKAGES_A_SNAPSHOT) {
  const names = Array.from({ length: PACKAGES_A_SNAPSHOT }, (_, place) => `graph${from + place}`)
  const files = Object.fromEntries(names.map((name) => [`${name}.rego`, callGraph(name, random)]))
  const snapshot = await loadPolicies(files, limits)
  for (const name of names) {
    const plan: DocumentPlan = planDocument(snapshot, [name, 'answer'])
    const slice = new EvaluationSlice(DEFAULT_LIMITS.sliceMs)
    measure(`${name}, a slice`, DEFAULT_LIMITS.sliceMs, () =>
      evaluateDocument(plan, INPUT, newCall({ slice })),
    )
    measure(`${name}, the whole budget`, budgetMs, () => evaluateDocument(plan, INPUT, newCall()))
  }
}
for (const [end, count] of ends) console.log(`${String(count).padStart(6)} ${end}`)
for (const { name, overMs } of overruns.sort((a, b) => b.overMs - a.overMs).slice(0, 10))
  console.log(`${overMs.toFixed(1).padStart(6)} ms over: ${name}`)
