import type { FetchBudget, Instance, InstancesAnswer, InstancesQuery } from '../../sources.js'
import { wholeAnswer } from '../answers/answer-reading.js'
import { readNumber } from '../answers/read-number.js'
import type { SourceConnection } from '../answers/source-connection.js'
import { fillLabelQuery } from '../templates/fill-label-query.js'
import { rangeRequest } from './fetch-range.js'
import type { RangeSettings } from './fetch-range.js'
import { labelText, readMatrix } from './read-matrix.js'
import type { MatrixSeries } from './read-matrix.js'

/**
 * The instances of a window by a range query, whose series have a label that names them. Raises
 * `invalid` for a template that cannot be filled.
 */
export async function fetchInstances(
  { query, scope, startMs, endMs, stepMs, label }: InstancesQuery,
  budget: FetchBudget,
  connection: SourceConnection,
  settings: RangeSettings,
): Promise<InstancesAnswer> {
  const text = fillLabelQuery(query, scope)
  const request = rangeRequest(text, { startMs, lastMs: endMs, stepMs }, settings)
  const reply = await connection.send(request, connection.startBudget(budget), wholeAnswer)
  if (!reply.isAnswered) return { problem: reply.problem }
  const series = readMatrix(reply.answer)
  if (typeof series === 'string') return { problem: `${connection.name}: ${series}` }
  const instances = new Map<string, Instance>()
  for (const one of series) {
    const name = one.labels[label]
    if (name === undefined || name === '') {
      return {
        problem: `${connection.name}: the series ${labelText(one.labels)} has no label ${label}, which names the instance`,
      }
    }
    const instance = instanceOf(name, one)
    const known = instances.get(name)
    if (instance !== undefined) instances.set(name, known === undefined ? instance : joined(known, instance))
  }
  return { instances: [...instances.values()] }
}

function instanceOf(name: string, { samples }: MatrixSeries): Instance | undefined {
  const times = samples.map((sample) => {
    const [seconds, raw] = Array.isArray(sample) ? (sample as readonly unknown[]) : []
    return { atMs: typeof seconds === 'number' ? seconds * 1000 : Number.NaN, value: readNumber(raw) }
  })
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return undefined
  return { name, firstMs: first.atMs, lastMs: last.atMs, value: last.value ?? Number.NaN }
}

/** Another series of the same instance, as of its other container. */
function joined(one: Instance, other: Instance): Instance {
  return {
    name: one.name,
    firstMs: Math.min(one.firstMs, other.firstMs),
    lastMs: Math.max(one.lastMs, other.lastMs),
    value: Math.max(one.value, other.value),
  }
}
