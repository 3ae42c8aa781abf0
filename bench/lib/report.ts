import { parseArgs } from 'node:util'

import { max, quantileSorted } from 'd3-array'

type Cell = string | number | undefined

const { argv } = process
const isJson = argv.includes('--json')
const FIRST_COLUMN = 44

/** The flags of a program with their defaults and meanings. `--json` and `--help` are added. */
export function readFlags<Name extends string>(
  known: Readonly<Record<Name, readonly [initial: string, about: string]>>,
): Readonly<Record<Name, string>> {
  const names = Object.keys(known) as Name[]
  const values: Readonly<Record<string, unknown>> = parseArgs({
    options: {
      ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
      ...{ json: { type: 'boolean' as const }, help: { type: 'boolean' as const } },
    },
  }).values
  if (values['help'] === true) {
    const lines = names.map((name) => `  --${name} ${known[name][1]} (${known[name][0] || 'none'})`)
    console.log([...lines, '  --json   each row as an object on a line of its own'].join('\n'))
    process.exit()
  }
  const read = names.map((name) => [name, values[name] ?? known[name][0]] as const)
  return Object.fromEntries(read) as Record<Name, string>
}

/** The items of a comma-separated list. */
export function partsOf(list: string): string[] {
  return list.split(',').filter(Boolean)
}

/** Runs the named parts in their order, or all. Throws for an unknown part. */
export async function runParts(
  list: string,
  parts: Readonly<Record<string, () => Promise<void>>>,
): Promise<void> {
  for (const name of list === '' ? Object.keys(parts) : partsOf(list)) {
    const part = parts[name]
    if (part === undefined) throw new Error(`no part is named ${name}: use ${Object.keys(parts).join(', ')}`)
    await part()
  }
}

/**
 * A table whose lines are printed as they arrive: Markdown, or with `--json` one object per line.
 * Columns are separated by ` | `.
 */
export function table(title: string, columnList: string): (...cells: Cell[]) => void {
  const columns = columnList.split(' | ')
  const widths = columns.map((column, index) => (index === 0 ? FIRST_COLUMN : Math.max(column.length, 7)))
  const line = (cells: readonly Cell[]): void => {
    const texts = cells.map((cell, index) => {
      const text = shown(cell)
      return index === 0 ? text.padEnd(FIRST_COLUMN) : text.padStart(widths[index] ?? 0)
    })
    console.log(`| ${texts.join(' | ')} |`)
  }
  if (!isJson) {
    console.log(`\n${title}\n`)
    line(columns)
    line(widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)))
  }
  return (...cells) => {
    if (!isJson) line(cells)
    else
      console.log(JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, cells[index]]))))
  }
}

/** At least three significant digits, and at most two decimals. */
function shown(cell: Cell): string {
  if (cell === undefined || Number.isNaN(cell)) return '-'
  if (typeof cell === 'string' || Number.isInteger(cell)) return String(cell)
  const size = Math.abs(cell)
  return cell.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
}

/** Latencies of requests of one kind, in milliseconds. */
export interface Latencies {
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export function latenciesOf(times: readonly number[]): Latencies {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number): number => quantileSorted(sorted, share) ?? Number.NaN
  return { requests: times.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: max(times) ?? Number.NaN }
}
