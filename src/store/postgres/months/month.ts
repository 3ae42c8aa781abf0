/** A monthly partition of a table. */
export interface Month {
  readonly name: string
  readonly fromMs: number
  /** Start of the next month. */
  readonly toMs: number
}

/** An existing partition: a month, or everything before the table had months. */
export type Part = Omit<Month, 'fromMs'> & Partial<Pick<Month, 'fromMs'>>

const PART = /^_(?<before>before_)?(?<year>\d{4,6})_(?<month>\d{2})$/

/** Returns the month (UTC) of a time, or the month `later` months after it. */
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

/**
 * Returns the partition for everything before a table had months. It ends with the month of
 * `timeMs`.
 */
export function partBefore(table: string, timeMs: number): Part {
  const { fromMs: toMs } = monthOf(table, timeMs, 1)
  return { name: `${table}_before_${yearAndMonth(new Date(toMs))}`, toMs }
}

/** Returns the partition with a name; undefined for any other name. */
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
