import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One recorded series: values in order of time, with the labels of known anomalies. */
export interface RecordedSeries {
  readonly name: string
  /** Series of the same thing at the same time, such as two pods, share this name. */
  readonly family: string
  readonly values: Float64Array
  /** Points that are labelled as anomalous. Empty if the file has no labels. */
  readonly isAnomaly: readonly boolean[]
  /** Points in a day. Undefined if the file does not say when its points were. */
  readonly perDay: number | undefined
}

const DAY_MS = 86_400_000
/** Times in seconds are below this number until the year 5138. */
const MAX_SECONDS = 1e11

/**
 * Reads each CSV file of a folder and its folders: a header, then `time,value` with an optional
 * third column that is 1 for labelled anomalies. Files `NAME@1.csv` and `NAME@2.csv` are instances
 * of one thing.
 */
export function loadSeries(directory: string): RecordedSeries[] {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.csv'))
    .toSorted()
  return files.flatMap((file) => {
    const name = file.replace(/\.csv$/, '')
    const rows = readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(','))
      .filter(({ length }) => length > 1)
    const values = Float64Array.from(rows, ([, value]) => Number(value))
    if (values.length === 0 || values.some(Number.isNaN)) return []
    const isAnomaly = rows.some(([, , label]) => label !== undefined)
      ? rows.map(([, , label]) => Number(label) === 1)
      : []
    const family = name.replace(/@[^@]*$/, '')
    return [{ name, family, values, isAnomaly, perDay: perDay(rows.map(([time = '']) => timeOf(time))) }]
  })
}

function timeOf(text: string): number {
  const amount = Number(text)
  if (Number.isNaN(amount)) return Date.parse(`${text.replace(' ', 'T').replace(/Z$/, '')}Z`)
  return amount < MAX_SECONDS ? amount * 1000 : amount
}

/** By the median step, so that single gaps do not matter. */
function perDay(times: readonly number[]): number | undefined {
  const steps = times
    .slice(1)
    .map((time, index) => time - (times[index] ?? 0))
    .toSorted((a, b) => a - b)
  const step = steps[Math.floor(steps.length / 2)] ?? Number.NaN
  return step > 0 ? Math.round(DAY_MS / step) : undefined
}
