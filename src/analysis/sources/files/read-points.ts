import { parse } from 'csv-parse/sync'
import { z } from 'zod'

import { AppError, toError } from '../../../errors/app-error.js'
import { holdsMoreValues } from '../../../lib/json/scan/nesting.js'
import { isRecord } from '../../../lib/validation/record.js'
import { readMatrix } from '../prometheus/read-matrix.js'
import { readNumber } from '../answers/read-number.js'
import { readTime } from './read-time.js'

const MAX_VALUES = 2_500_000

/** A value at a time in ms; NaN if the file has none. */
export interface Point {
  readonly atMs: number
  readonly value: number
}

const Spaced = z.object({
  startMs: z.number(),
  stepMs: z.number().positive(),
  values: z.array(z.number().nullable()),
})

/**
 * The points in a CSV file with a heading line, or in a JSON file: a list of objects with a time
 * and values, `{startMs, stepMs, values}` with null for a gap, or the answer of a range query with
 * one series. Raises `invalid` with the problem.
 */
export function readPoints(path: string, text: string, column: string | undefined): Point[] {
  return path.toLowerCase().endsWith('.json') ? pointsOfJson(parseJson(text), column) : fromCsv(text, column)
}

function fromCsv(text: string, column: string | undefined): Point[] {
  const rows = parseCsv(text)
  const [heading = []] = rows
  const records = rows
    .slice(1)
    .map((row) => Object.fromEntries(heading.map((name, index) => [name, row[index]])))
  return fromRecords(heading, records, column)
}

function parseCsv(text: string): string[][] {
  try {
    return parse(text, { bom: true, trim: true, skip_empty_lines: true, relax_column_count_less: true })
  } catch (raw) {
    throw new AppError('invalid', `it is not well-formed CSV: ${toError(raw).message}`, { cause: raw })
  }
}

/**
 * The points in a JSON document: a list of objects with a time and values, `{startMs, stepMs,
 * values}` with null for a gap, or the answer of a range query with one series. Raises `invalid`
 * with the problem.
 */
export function pointsOfJson(json: unknown, column: string | undefined): Point[] {
  if (Array.isArray(json)) {
    const records = json.filter(isRecord)
    if (records.length < json.length) throw new AppError('invalid', 'its list must hold objects only')
    return fromRecords(Object.keys(records[0] ?? {}), records, column)
  }
  const spaced = Spaced.safeParse(json)
  if (spaced.success) {
    const { startMs, stepMs, values } = spaced.data
    return values.map((value, index) => ({ atMs: startMs + index * stepMs, value: value ?? Number.NaN }))
  }
  return fromMatrix(json)
}

function parseJson(text: string): unknown {
  if (holdsMoreValues(text, MAX_VALUES)) {
    throw new AppError('invalid', `it holds more than ${MAX_VALUES} values`)
  }
  try {
    return JSON.parse(text)
  } catch (raw) {
    throw new AppError('invalid', `it is not JSON: ${toError(raw).message}`, { cause: raw })
  }
}

function fromMatrix(json: unknown): Point[] {
  const matrix = readMatrix(json)
  if (typeof matrix === 'string') {
    throw new AppError(
      'invalid',
      'it must be a list of objects with a time and values, {startMs, stepMs, values}, or the answer of a range query',
    )
  }
  if (matrix.length > 1) throw new AppError('invalid', `it has ${matrix.length} series, not one`)
  const samples = matrix[0]?.samples ?? []
  return samples.map((sample) => {
    const [seconds, value] = Array.isArray(sample) ? (sample as readonly unknown[]) : []
    return { atMs: readTime(seconds), value: toValue(value, 'values') }
  })
}

function fromRecords(
  names: readonly string[],
  records: readonly Readonly<Record<string, unknown>>[],
  column: string | undefined,
): Point[] {
  if (records.length === 0) return []
  const { time, value } = chooseColumns(names, column)
  return records.map((record) => ({ atMs: readTime(record[time]), value: toValue(record[value], value) }))
}

function toValue(raw: unknown, column: string): number {
  const value = readNumber(raw ?? null)
  if (value !== undefined) return value
  throw new AppError(
    'invalid',
    `its column ${column} holds ${JSON.stringify(raw).slice(0, 40)}, which is no number`,
  )
}

const TIME_NAME = /^(?:@?timestamp|time|date|datetime|ts)$/i
const VALUE_NAME = /^value$/i

/**
 * The columns of time and value: the time by its name, else the first column; the value by the
 * given name, else the only other column or the one named "value". Raises `invalid` with the
 * existing names.
 */
function chooseColumns(
  names: readonly string[],
  wanted: string | undefined,
): { readonly time: string; readonly value: string } {
  const time = names.find((name) => TIME_NAME.test(name)) ?? names[0] ?? ''
  const others = names.filter((name) => name !== time)
  const value =
    wanted === undefined
      ? (others.find((name) => VALUE_NAME.test(name)) ?? (others.length === 1 ? others[0] : undefined))
      : others.find((name) => name === wanted)
  if (value !== undefined) return { time, value }
  const what = wanted === undefined ? 'it has no single column of values' : `it has no column ${wanted}`
  throw new AppError(
    'invalid',
    `${what}: name one of ${others.join(', ') || '(none)'} after #, as in file.csv#name`,
  )
}
