import { readLogTemplate } from '../../src/analysis/logs/model/log-template.js'
import type { LogLine } from '../../src/analysis/sources.js'
import { events, inputOf, MINUTE_MS, MINUTES, ordinary, PER_MINUTE, timesOf } from './hour.js'
import type { LogRow, Random } from './hour.js'

const TEMPLATE = readLogTemplate({ templateName: 'uneven' })
/** Of the traffic. */
const CANARY = 0.1
const HOUR = 1 / MINUTES

/** Errors that come together, and how a side gets its part of them. */
interface Bursts {
  readonly name: string
  readonly text: string
  readonly kinds: number
  /** In an hour of the baseline. */
  readonly often: number
  /** Lines of one on the baseline, on average. */
  readonly lines: number
  readonly minutes: number
  /** Both sides at once, each by itself as often as its traffic says, or each as often but smaller. */
  readonly reach: 'both' | 'rarer' | 'smaller'
}

const BURSTS: readonly Bursts[] = [
  {
    name: 'of a dependency, on both sides at once',
    text: 'ERROR timeout of kind',
    reach: 'both',
    ...{ kinds: 3, often: 3, lines: 60, minutes: 1 },
  },
  {
    name: 'of a dependency for 10 minutes',
    text: 'ERROR timeout of kind',
    reach: 'both',
    ...{ kinds: 2, often: 2, lines: 300, minutes: 10 },
  },
  {
    name: 'each side its own, a tenth as often',
    text: 'ERROR batch failed of kind',
    reach: 'rarer',
    ...{ kinds: 5, often: 6, lines: 20, minutes: 1 },
  },
  {
    name: 'each side its own, 8 minutes long',
    text: 'ERROR batch failed of kind',
    reach: 'rarer',
    ...{ kinds: 3, often: 6, lines: 80, minutes: 8 },
  },
  {
    name: 'each side its own, a tenth as large',
    text: 'ERROR reconnect of kind',
    reach: 'smaller',
    ...{ kinds: 5, often: 8, lines: 100, minutes: 1 },
  },
  {
    name: 'each side its own, a tenth as large, 8 minutes',
    text: 'ERROR reconnect of kind',
    reach: 'smaller',
    ...{ kinds: 3, often: 8, lines: 200, minutes: 8 },
  },
  {
    name: 'critical, each side its own, a tenth as often',
    text: 'FATAL shard lost of kind',
    reach: 'rarer',
    ...{ kinds: 3, often: 6, lines: 6, minutes: 1 },
  },
]

const KINDS = ['apple', 'pear by hand', 'plum of the tree', 'fig', 'quince at one more place']

/** An unchanged canary with a tenth of the traffic, whose errors come in bursts as its baseline's do. */
export const UNEVEN_ROWS: readonly LogRow[] = BURSTS.map((bursts) => ({
  name: `A/A, a tenth of the traffic, bursts ${bursts.name}`,
  ...{ verdict: 'Fail', limit: 2, template: TEMPLATE },
  make: (random) => {
    const [baseline, canary]: [LogLine[], LogLine[]] = [
      ordinary(random, () => 1, PER_MINUTE / CANARY),
      ordinary(random),
    ]
    for (const kind of KINDS.slice(0, bursts.kinds)) {
      const text = `${bursts.text} ${kind}`
      const { often, lines, reach } = bursts
      const starts = timesOf(often * HOUR, random)
      const own = reach === 'both' ? starts : timesOf(often * HOUR * (reach === 'rarer' ? CANARY : 1), random)
      for (const start of starts) baseline.push(...burst(start, lines, bursts.minutes, text, random))
      const size = reach === 'rarer' ? lines : lines * CANARY
      for (const start of own) canary.push(...burst(start, size, bursts.minutes, text, random))
    }
    return inputOf(baseline, canary)
  },
}))

/** Lines of one burst, half to one and a half times as many as usual. */
function burst(start: number, lines: number, minutes: number, text: string, random: Random): LogLine[] {
  const perMinute = (lines * (0.5 + random())) / minutes
  return events(perMinute, text, random)
    .filter(({ atMs }) => atMs < minutes * MINUTE_MS && atMs + start < MINUTES * MINUTE_MS)
    .map(({ atMs }) => ({ atMs: atMs + start, text }))
}
