import { AppError } from '../../../errors/app-error.js'

const TIME_NAME = /^(?:@?timestamp|time|date|datetime|ts)$/i
const VALUE_NAME = /^value$/i

/**
 * The columns of time and value: the time by its name, else the first; the value by the name asked for, else the only other
 * one or the one named "value". Raises `invalid` with the names that there are.
 */
export function chooseColumns(
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
