import { parseArgs } from 'node:util'

import { textTable } from '../../src/cli/output/text-table.js'
import { SIMULATED, simulateLooks } from './simulate-looks.js'

/** How often the judge of logs blames a canary over all looks of a run, with its error spent over them and without. */

const { values: flags } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    looks: { type: 'string', default: '12' },
    seed: { type: 'string', default: '20261121' },
  },
})
const [runs, looks, seed] = [Number(flags.runs), Number(flags.looks), Number(flags.seed)]

const percent = (count: number): string => ((100 * count) / runs).toFixed(1)
const rows = SIMULATED.map((simulated) => {
  const spent = simulateLooks(simulated, { runs, looks, seed, isSpent: true })
  const whole = simulateLooks(simulated, { runs, looks, seed, isSpent: false })
  return [
    simulated.name,
    ...[whole.atAnyLook, spent.atAnyLook, whole.atTheLast, spent.atTheLast].map(percent),
  ]
})
const head = ['LOGS', 'ANY LOOK, NOT SPENT %', 'ANY LOOK %', 'LAST LOOK, NOT SPENT %', 'LAST LOOK %']
console.log(textTable([head, ...rows], [1, 2, 3, 4]))
