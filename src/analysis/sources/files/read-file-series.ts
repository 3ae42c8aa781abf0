import { AppError } from '../../../errors/app-error.js'
import type { SeriesAnswer, SeriesQuery } from '../../sources.js'
import { failedSeries } from '../answers/answers.js'
import { seriesAnswer } from '../answers/series-answer.js'
import { SeriesBuilder } from '../answers/series-builder.js'
import type { FileSettings } from '../answers/source-settings.js'
import { shortened, stepAround, stepGrid } from '../answers/step-grid.js'
import { fillPath } from '../templates/fill-path.js'
import { openInside } from './open-inside.js'
import { readPoints } from './read-points.js'
import type { Point } from './read-points.js'

/**
 * Reads a series from a CSV or JSON file. The query is `path#column`. Raises an AppError for a file
 * that is unreadable or malformed.
 */
export async function readFileSeries(query: SeriesQuery, settings: FileSettings): Promise<SeriesAnswer> {
  const { path, column } = fillPath(query.query, query.scope)
  const whole = stepGrid(query, query.stepMs)
  const grid = shortened(whole, settings.maxPoints)
  const sent = column === undefined ? path : `${path}#${column}`
  if (!(grid.count > 0)) return failedSeries(sent, grid, 'the window has no step in it')
  const text = await readBounded(path, settings)
  if (text === undefined) {
    return failedSeries(sent, grid, `${settings.name}: ${path} has more than ${settings.maxFileBytes} bytes`)
  }
  const builder = new SeriesBuilder(grid, query.aggregate)
  let timeless = 0
  for (const { atMs, value } of pointsIn(path, text, column)) {
    const step = stepAround(grid, atMs)
    if (Number.isNaN(atMs)) timeless += 1
    else if (step !== undefined) builder.add(step, value, atMs)
  }
  const gaps = timeless === 0 ? [] : [`${path}: ${timeless} rows have no time that can be read`]
  return seriesAnswer({
    query: sent,
    grid,
    builder,
    truncatedPoints: whole.count - grid.count,
    gaps,
    warnings: [],
  })
}

function pointsIn(path: string, text: string, column: string | undefined): Point[] {
  try {
    return readPoints(path, text, column)
  } catch (raw) {
    if (raw instanceof AppError) throw new AppError(raw.kind, `${path}: ${raw.message}`, { cause: raw })
    throw raw
  }
}

async function readBounded(
  path: string,
  { directory, maxFileBytes }: FileSettings,
): Promise<string | undefined> {
  const file = await openInside(directory, path)
  try {
    const { size } = await file.stat()
    return size > maxFileBytes ? undefined : await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
