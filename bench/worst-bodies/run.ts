import { parseArgs } from 'node:util'

import { runWorstBodies } from '../../test/support/bodies/run-worst-bodies.js'
import type { BodyOutcome } from '../../test/support/bodies/run-worst-bodies.js'

const { values: flags } = parseArgs({
  options: {
    route: { type: 'string', default: '' },
    filling: { type: 'string', default: '' },
    all: { type: 'boolean', default: false },
  },
})
const LONGEST_DECIDING_MS = 250
const worst = new Map<string, BodyOutcome>()

function show({ route, status, durationMs, longestCheapMs, decidingMs, bytes, body }: BodyOutcome): void {
  const cells = [
    route.slice(0, 50).padEnd(50),
    String(status),
    `${durationMs.toFixed(0).padStart(6)} ms`,
    `cheap ${longestCheapMs.toFixed(0).padStart(5)} ms`,
    `at work ${decidingMs.toFixed(0).padStart(5)} ms`,
    `${String(bytes).padStart(8)} bytes`,
    body,
  ]
  console.log(cells.join('  '))
}

const { outcomes, exitCode } = await runWorstBodies(flags, (outcome) => {
  if (flags.all) show(outcome)
  const before = worst.get(outcome.route)
  if (before === undefined || before.decidingMs < outcome.decidingMs) worst.set(outcome.route, outcome)
})
if (flags.all) console.log()
for (const outcome of worst.values()) show(outcome)
const failed = outcomes.filter(({ status }) => status === 0 || status >= 500)
for (const { route, body, text } of failed) console.log(`${route}: ${body}: ${text}`)
const longestCheap = Math.max(...outcomes.map(({ longestCheapMs }) => longestCheapMs))
const longestDeciding = Math.max(...outcomes.map(({ decidingMs }) => decidingMs))
console.log(
  `${outcomes.length} bodies of ${worst.size} routes: ${failed.length} without an answer or with 5xx, ` +
    `the longest cheap decision beside them ${longestCheap.toFixed(0)} ms, of which the thread that decides was at work ${longestDeciding.toFixed(0)} ms, exit code ${exitCode}`,
)
process.exitCode = exitCode === 0 && longestDeciding < LONGEST_DECIDING_MS ? 0 : 1
