import { describeLine } from '../../src/analysis/logs/records/describe-record.js'
import type { LogJudgeInput, LogSide } from '../../src/analysis/logs/model/types.js'
import { judgeLogs, logJudgeOptions } from '../../src/analysis/logs/judge-logs.js'
import { readLogTemplate } from '../../src/analysis/logs/model/log-template.js'
import type { LogTemplate } from '../../src/analysis/logs/model/log-template.js'
import type { LogLine } from '../../src/analysis/sources.js'
import { DIALECTS } from './json-dialects.js'
import type { Dialect } from './json-dialects.js'

const MINUTE_MS = 60_000
const MINUTES = 60
const PER_MINUTE = 10
const THRESHOLDS = { pass: 90, marginal: 70 }

/** Pairs of logs of an hour, and the verdict of which only so large a share of them may have. */
export interface LogRow {
  readonly name: string
  readonly verdict: 'Success' | 'Review' | 'Fail'
  /** Per cent. */
  readonly limit: number
  readonly template: LogTemplate
  readonly make: (random: () => number) => LogJudgeInput
}

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
    ...ordinary(random, () => 1),
    ...CRITICAL_KINDS.flatMap((kind) => events(1 / MINUTES, `${kind} 7`, random)),
  ]
  return (random) => ({ ...inputOf(log(random), log(random)), seenTemplates: known })
}

const stops =
  (at: number): LogRow['make'] =>
  (random) =>
    inputOf(
      ordinary(random, () => 1),
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
    const canary = [...written(ordinary(random, () => 1)), ...errors]
    return inputOf(written(ordinary(random, () => 1)), canary)
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
]

/** How many per cent of so many pairs have the verdict. */
export function shareOf(row: LogRow, pairs: number, random: () => number): number {
  let count = 0
  for (let pair = 0; pair < pairs; pair += 1) {
    const { report } = judgeLogs(row.make(random), logJudgeOptions(row.template))
    if (report.verdict === row.verdict) count += 1
  }
  return (100 * count) / pairs
}

function inputOf(baseline: readonly LogLine[], canary: readonly LogLine[]): LogJudgeInput {
  return { baseline: sideOf(baseline), canary: sideOf(canary), seenTemplates: [], thresholds: THRESHOLDS }
}

function sideOf(lines: readonly LogLine[]): LogSide {
  const sorted = lines.toSorted((a, b) => a.atMs - b.atMs)
  return { lines: sorted, startMs: 0, endMs: MINUTES * MINUTE_MS, isTruncated: false }
}

/** Ordinary lines of three kinds, a Poisson number in each minute, as busy as `load` says. */
function ordinary(random: () => number, load: (minute: number) => number): LogLine[] {
  return events(PER_MINUTE, '', random)
    .filter(({ atMs }) => random() < load(atMs / MINUTE_MS))
    .map(({ atMs }, n) => ({ atMs, text: ordinaryText(n, random) }))
}

function ordinaryText(n: number, random: () => number): string {
  const value = Math.floor(random() * 1e6)
  if (n % 3 === 0) return `order ${value} was placed`
  return n % 3 === 1 ? `cache refreshed in ${value} ms` : `request ${value} served`
}

function events(perMinute: number, text: string, random: () => number): LogLine[] {
  const lines: LogLine[] = []
  const wait = (): number => -Math.log(1 - random()) / perMinute
  for (let at = wait(); at < MINUTES; at += wait()) lines.push({ atMs: Math.floor(at * MINUTE_MS), text })
  return lines
}
