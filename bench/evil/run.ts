import { parseArgs } from 'node:util'

import { readEvilRows } from '../../test/support/evil/evil-row.js'
import { runEvilRows } from '../../test/support/evil/run-evil-rows.js'
import type { EvilOutcome } from '../../test/support/evil/run-evil-rows.js'

const { values: flags } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const LONGEST_MS = 3000

function show({ name, status, code, durationMs, cheapAnswers, longestCheapMs }: EvilOutcome): void {
  const cells = [
    name.slice(0, 48).padEnd(48),
    String(status),
    code.padEnd(27),
    `${durationMs.toFixed(0).padStart(6)} ms`,
    `${String(cheapAnswers).padStart(5)} beside, longest ${longestCheapMs.toFixed(0).padStart(5)} ms`,
  ]
  console.log(cells.join('  '))
}

const rows = readEvilRows().filter(({ name }) => flags.only.split(',').some((part) => name.includes(part)))
const { outcomes, exitCode } = await runEvilRows(rows, show)
const allowed = outcomes.filter(({ status }) => status === 200)
const slow = outcomes.filter(({ durationMs }) => durationMs > LONGEST_MS)
const longest = Math.max(...outcomes.map(({ longestCheapMs }) => longestCheapMs))
console.log(
  `${rows.length} rows: ${allowed.length} allowed, ${slow.length} over ${LONGEST_MS} ms, ` +
    `the longest cheap request beside them ${longest.toFixed(0)} ms, exit code ${exitCode}`,
)
process.exitCode = allowed.length === 0 && slow.length === 0 && exitCode === 0 ? 0 : 1
