import { text as textOf } from 'node:stream/consumers'

import type { ServiceClient } from '../session/service-client.js'
import { bad, ok, warning } from './finding.js'
import { toError } from '../../errors/app-error.js'
import type { Finding } from './finding.js'

/** A figure that should be nought, counted since the service started. */
interface Expectation {
  readonly metric: string
  /** Only series with this label. */
  readonly label?: string
  readonly means: string
  readonly advice: string
  readonly state: 'warning' | 'bad'
}

const EXPECTATIONS: readonly Expectation[] = [
  {
    metric: 'tidegate_events_total',
    label: 'result="failed"',
    means: 'events that were not written',
    advice: 'look at the disk, and at the part store above',
    state: 'bad',
  },
  {
    metric: 'tidegate_decision_log_dropped_total',
    means: 'decisions that are not in the log',
    advice:
      'the label reason in /metrics tells: write_failed is the disk, buffer_full, detail_gave_way and allow_gave_way too much at once',
    state: 'warning',
  },
  {
    metric: 'tidegate_policy_loads_total',
    label: 'result="failure"',
    means: 'loads of policies that failed',
    advice: 'the log says why of each',
    state: 'warning',
  },
  {
    metric: 'tidegate_thread_deaths_total',
    means: 'threads that ended by themselves',
    advice: 'the log says why; GET /backgroundWork lists what was suspended',
    state: 'warning',
  },
  {
    metric: 'tidegate_outbox_attempts_total',
    label: 'state="given_up"',
    means: 'messages that were given up',
    advice: 'GET /outbox?state=given_up, then send them again',
    state: 'warning',
  },
  {
    metric: 'tidegate_evaluations_total',
    label: 'outcome="error"',
    means: 'decisions that ended in an error',
    advice: 'tidegate decisions list --outcome error',
    state: 'warning',
  },
]

/** What the figures of a service tell that should not be. */
export async function lookAtFigures(client: ServiceClient): Promise<Finding[]> {
  let text: string
  try {
    text = await textOf(await client.stream({ path: '/metrics' }))
  } catch (raw) {
    return [warning('figures', toError(raw).message, 'give a token of an auditor with --token-file')]
  }
  const findings = EXPECTATIONS.flatMap(({ metric, label, means, advice, state }) => {
    const sum = sumOf(text, metric, label)
    if (sum === 0) return []
    return [(state === 'bad' ? bad : warning)(metric, `${sum} ${means} since the start`, advice)]
  })
  return findings.length > 0 ? findings : [ok('figures', 'nothing is lost or given up since the start')]
}

/** Prometheus' text: `name{label="value"} number`. */
export function sumOf(text: string, metric: string, label = ''): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .filter((line) => line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
