import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

const MS_PER_SECOND = 1000
const WAIT_BUCKETS = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30]

/** What evaluations that take long are counted by. */
export interface EvaluationMetrics {
  /** An evaluation was given up on the thread that decides. */
  readonly abandoned: (lostMs: number) => void
  /** One that was left to the slow threads ended in a way, after it waited for a thread. */
  readonly ended: (how: string, waitedMs: number) => void
}

/** Adds the figures of evaluations that take long; how many there are now is asked for. */
export function makeEvaluationMetrics(
  registry: Registry,
  now: { readonly queued: () => number; readonly running: () => number },
): EvaluationMetrics {
  const registers = [registry]
  const slices = new Counter({
    name: 'tidegate_evaluation_slices_abandoned_total',
    help: 'Evaluations that did not end within their slice on the deciding thread, and were done again by a slow one.',
    registers,
  })
  const lost = new Counter({
    name: 'tidegate_evaluation_slices_abandoned_seconds_total',
    help: 'Time of the deciding thread that such evaluations took, in seconds.',
    registers,
  })
  const ended = new Counter({
    name: 'tidegate_slow_evaluations_total',
    help: 'Evaluations left to the slow threads, by how they ended: answered, failed, killed (its thread was, too), full, late or gone (refused).',
    labelNames: ['end'],
    registers,
  })
  const waits = new Histogram({
    name: 'tidegate_slow_evaluation_wait_seconds',
    help: 'How long evaluations waited for a slow thread.',
    buckets: WAIT_BUCKETS,
    registers,
  })
  addGauge(
    registers,
    'tidegate_slow_evaluations_queued',
    'Evaluations that wait for a slow thread.',
    now.queued,
  )
  addGauge(registers, 'tidegate_slow_evaluations_running', 'Slow threads at work.', now.running)
  return {
    abandoned: (lostMs) => {
      slices.inc()
      lost.inc(lostMs / MS_PER_SECOND)
    },
    ended: (how, waitedMs) => {
      ended.inc({ end: how })
      waits.observe(waitedMs / MS_PER_SECOND)
    },
  }
}

function addGauge(registers: Registry[], name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(value())
    },
  })
}
