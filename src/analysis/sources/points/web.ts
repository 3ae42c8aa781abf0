import { AppError } from '../../../errors/app-error.js'
import { isRecord } from '../../../lib/validation/record.js'
import { pointsOfJson } from '../files/read-points.js'
import type { StepGrid } from '../answers/step-grid.js'
import { Filling } from '../templates/filling.js'
import { URL_PART } from '../templates/escape-contexts.js'
import type { PointsApi } from './points-api.js'
import { endMs } from './points-api.js'

const MS_PER_SECOND = 1000
/** Variables of the window in a query. */
const WINDOW = /\$(startMs|endMs|startSeconds|endSeconds|stepSeconds)\b/g

/**
 * Any server that answers with JSON. A query is `PATH?QUERY#MEMBERS`: `#data.points` selects the
 * points within the answer and `#data.points:p99` also names their member of values. `pointsOfJson`
 * defines the formats of points.
 */
export function makeWebApi(query: string): PointsApi {
  const { column } = readPlace(query)
  return {
    fill: (template, scope) => {
      const [target = ''] = template.split('#')
      if (!target.startsWith('/')) {
        throw new AppError('invalid', 'the query must begin with "/": a path below the url of the source', {
          code: 'invalid_query',
        })
      }
      const filling = new Filling(scope)
      return filling.finish(filling.fill(target, URL_PART))
    },
    withWindow,
    request: (text, grid) => {
      const url = new URL(withWindow(text, grid), 'http://host')
      return { method: 'GET', path: url.pathname, search: Object.fromEntries(url.searchParams) }
    },
    read: (json) => {
      const found = documentIn(json, query)
      if ('problem' in found) return found.problem
      try {
        const points = pointsOfJson(found.document, column).map(({ atMs, value }) => [atMs, value] as const)
        return { series: [{ label: 'answer', points }] }
      } catch (raw) {
        if (raw instanceof AppError) return `the answer cannot be read: ${raw.message}`
        throw raw
      }
    },
    pointsPerRequest: 50_000,
  }
}

function withWindow(text: string, grid: StepGrid): string {
  const values: Readonly<Record<string, number>> = {
    ...{ startMs: grid.startMs, startSeconds: grid.startMs / MS_PER_SECOND },
    ...{ endMs: endMs(grid), endSeconds: endMs(grid) / MS_PER_SECOND },
    stepSeconds: grid.stepMs / MS_PER_SECOND,
  }
  return text.replace(WINDOW, (whole, name: string) => String(values[name] ?? whole))
}

/** The part of an answer that the members in a query select. */
export function documentIn(
  json: unknown,
  query: string,
): { readonly document: unknown } | { readonly problem: string } {
  const { members } = readPlace(query)
  const document = members.reduce<unknown>(
    (value, member) => (isRecord(value) && Object.hasOwn(value, member) ? value[member] : undefined),
    json,
  )
  return document === undefined ? { problem: `the answer has no ${members.join('.')}` } : { document }
}

/** The location of the points in an answer. */
function readPlace(query: string): {
  readonly members: readonly string[]
  readonly column: string | undefined
} {
  const [, place = ''] = query.split('#')
  const [path = '', column] = place.split(':')
  return { members: path.split('.').filter((member) => member !== ''), column }
}
