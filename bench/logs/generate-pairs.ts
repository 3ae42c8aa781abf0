import { describeLine } from '../../src/analysis/logs/records/describe-record.js'
import { judgeLogs, logJudgeOptions } from '../../src/analysis/logs/judge-logs.js'
import { readLogTemplate } from '../../src/analysis/logs/model/log-template.js'
import type { LogTemplate } from '../../src/analysis/logs/model/log-template.js'
import type { LogLine } from '../../src/analysis/sources.js'
import { ACCESS_ROWS } from './access-pairs.js'
import { events, inputOf, MINUTE_MS, MINUTES, ordinary, PER_MINUTE } from './hour.js'
import type { LogRow } from './hour.js'
import { DIALECTS } from './json-dialects.js'
import type { Dialect } from './json-dialects.js'
import { UNEVEN_ROWS } from './uneven-pairs.js'

const PLAIN = readLogTemplate({ templateName: 'simulated' })
const CRITICAL_KINDS = [
  'FATAL could not open the journal of shard',
  'FATAL replica lost its leader in zone',
  'java.lang.OutOfMemoryError: Java heap space in worker',
  'FATAL checksum of page differs in file',
  'FATAL cannot reach the lock service from node',
]
const OWN_TOPICS = readLogTemplate({
  templateName: 'own',
  errorTopics: [
    { string: 'journal', topic: 'critical' },
    { string: 'lost its leader', topic: 'critical' },
    { string: 'OutOfMemoryError', topic: 'critical' },
    { string: 'checksum', topic: 'critical' },
    { string: 'lock service', topic: 'critical' },
  ],
})

const rareCritical = (template: LogTemplate): LogRow['make'] => {
  const history = CRITICAL_KINDS.map((kind, n) => ({ atMs: n * MINUTE_MS, text: `${kind} ${n}` }))
  const known = judgeLogs(inputOf(history, history), logJudgeOptions(template)).templatesToRemember
  const log = (random: () => number): LogLine[] => [
    ...ordinary(random),
    ...CRITICAL_KINDS.flatMap((kind) => events(1 / MINUTES, `${kind} 7`, random)),
  ]
  return (random) => ({ ...inputOf(log(random), log(random)), seenTemplates: known })
}

const stops =
  (at: number): LogRow['make'] =>
  (random) =>
    inputOf(
      ordinary(random),
      ordinary(random, (minute) => (minute < at * MINUTES ? 1 : 0)),
    )

/** One of twenty lines of the canary is an error that nobody logged before, as this writer writes it. */
const newError =
  ({ write }: Dialect): LogRow['make'] =>
  (random) => {
    const line = (level: 'info' | 'error', text: string, atMs: number): LogLine => ({
      atMs,
      text: describeLine(write(level, text, atMs)),
    })
    const written = (lines: readonly LogLine[]): LogLine[] =>
      lines.map(({ atMs, text }) => line('info', text, atMs))
    const errors = events(PER_MINUTE / 19, '', random).map(({ atMs }, n) =>
      line('error', `cannot reserve item ${1000 + n}: stock service gave no answer`, atMs),
    )
    const canary = [...written(ordinary(random)), ...errors]
    return inputOf(written(ordinary(random)), canary)
  }

export const LOG_ROWS: readonly LogRow[] = [
  {
    ...{ name: 'A/A, five rare known critical kinds', verdict: 'Fail', limit: 2 },
    ...{ template: PLAIN, make: rareCritical(PLAIN) },
  },
  {
    ...{ name: 'A/A, the same by topics of its own', verdict: 'Fail', limit: 2 },
    ...{ template: OWN_TOPICS, make: rareCritical(OWN_TOPICS) },
  },
  ...[1 / 3, 2 / 3].map((at) => ({
    ...{
      name: `stream that stops at ${Math.round(at * MINUTES)} of 60 minutes`,
      verdict: 'Success' as const,
    },
    ...{ limit: 0, template: PLAIN, make: stops(at) },
  })),
  ...DIALECTS.map((dialect) => ({
    ...{ name: `new ERROR in 5 % of lines, ${dialect.name}`, verdict: 'Success' as const },
    ...{ limit: 0, template: PLAIN, make: newError(dialect) },
  })),
  ...UNEVEN_ROWS,
  ...ACCESS_ROWS,
]

/** How many per cent of so many pairs have the verdict. */
export function shareOf(row: LogRow, pairs: number, random: () => number): number {
  let count = 0
  for (let pair = 0; pair < pairs; pair += 1) {
    const { report } = judgeLogs(row.make(random), logJudgeOptions(row.template))
    if (report.verdict === row.verdict || (row.orWorse === true && report.verdict === 'Fail')) count += 1
  }
  return (100 * count) / pairs
}
