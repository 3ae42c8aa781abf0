import { parseArgs } from 'node:util'

import { seededRandom } from '../../src/analysis/judge/series/seeded-random.js'
import { textTable } from '../../src/cli/output/text-table.js'
import { LOG_ROWS, shareOf } from './generate-pairs.js'

/** How many of many simulated pairs of logs get the verdict that they must not get. Exits with 1 where a limit is missed. */

const { values: flags } = parseArgs({
  options: {
    pairs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '20261121' },
    only: { type: 'string', default: '' },
  },
})

const rows = LOG_ROWS.filter(({ name }) => name.includes(flags.only)).map((row) => {
  const share = shareOf(row, Number(flags.pairs), seededRandom(Number(flags.seed)))
  const isMissed = share > row.limit
  if (isMissed) process.exitCode = 1
  return [row.name, row.verdict, share.toFixed(1), `<= ${row.limit}`, isMissed ? 'MISSED' : '']
})
console.log(textTable([['LOGS', 'VERDICT', '%', 'LIMIT', ''], ...rows], [2, 3]))
