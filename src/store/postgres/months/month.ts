/** A month of a table, which is a table of its own. */
export interface Month {
  readonly name: string
  readonly fromMs: number
  /** The beginning of the next one. */
  readonly toMs: number
}

/** A part of a table that is there: a month, or all that was kept before one. */
export type Part = Omit<Month, 'fromMs'> & Partial<Pick<Month, 'fromMs'>>

const PART = /^_(?<before>before_)?(?<year>\d{4,6})_(?<month>\d{2})$/

/** The month in UTC that a time is in, or one so many months later. */
export function monthOf(table: string, timeMs: number, later = 0): Month {
  const time = new Date(timeMs)
  const fromMs = Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + later)
  const from = new Date(fromMs)
  return {
    name: `${table}_${yearAndMonth(from)}`,
    fromMs,
    toMs: Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1),
  }
}

/** What was kept before a table had months, which ends with the month of a time. */
export function partBefore(table: string, timeMs: number): Part {
  const { fromMs: toMs } = monthOf(table, timeMs, 1)
  return { name: `${table}_before_${yearAndMonth(new Date(toMs))}`, toMs }
}

/** The part of a table that has such a name; undefined for any other. */
export function readPart(table: string, name: string): Part | undefined {
  if (!name.startsWith(table)) return undefined
  const { before, year, month } = PART.exec(name.slice(table.length))?.groups ?? {}
  if (year === undefined || month === undefined) return undefined
  const fromMs = Date.UTC(Number(year), Number(month) - 1)
  return before === undefined ? monthOf(table, fromMs) : { name, toMs: fromMs }
}

function yearAndMonth(time: Date): string {
  const month = String(time.getUTCMonth() + 1).padStart(2, '0')
  return `${String(time.getUTCFullYear()).padStart(4, '0')}_${month}`
}
