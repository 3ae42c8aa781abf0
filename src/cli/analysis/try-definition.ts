import { z } from 'zod'

import type { CheckData } from '../../analysis/runs/checks/check.js'
import type { TriedLines, TriedMetric, TriedSeries } from '../../analysis/runs/intervals/try-queries.js'
import type { TriedDefinition } from '../../analysis/runs/try-definition.js'
import { makeColours } from '../output/colours.js'
import type { Colours } from '../output/colours.js'
import { count } from '../output/text-table.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { makeServiceClient } from '../session/service-client.js'
import { outJson } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import type { TryOptions } from './run-options.js'

/** Partial schema: the service has the same release. */
const Tried = z
  .looseObject({ targets: z.array(z.looseObject({})) })
  .transform((value) => value as unknown as TriedDefinition)
const BARS = '▁▂▃▄▅▆▇█'
const DIGITS = 4
const NOTHING_THERE =
  'The source returned nothing. Check the names in the query, the scope values, and the time range.'

/** Prints the results of a definition's queries. Returns 1 if a query returned nothing to judge. */
export async function tryDefinition(
  application: string,
  options: TryOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const client = await makeServiceClient(options, terminal)
  const { minutes, baseline, canary } = options
  const tried = await client.request(Tried, {
    method: 'POST',
    path: `/analysis/applications/${encodeURIComponent(application)}/try`,
    body: { minutes, baseline, canary },
  })
  if (options.format === 'json') outJson(terminal, tried)
  else terminal.out(textOf(tried, makeColours(terminal.hasColours)))
  return isUsable(tried) ? EXIT.fine : EXIT.denied
}

function isUsable({ targets }: TriedDefinition): boolean {
  return targets.every(
    ({ metrics, logs, checks = [] }) =>
      checks.every(({ problem }) => problem === undefined) &&
      metrics.every(
        ({ baseline, canary, isSameOnBothSides }) =>
          !isSameOnBothSides && [baseline, canary].every(({ points }) => points > 0),
      ) &&
      [logs?.baseline, logs?.canary].every((side) => side?.state !== 'failed'),
  )
}

function textOf({ application, window, warnings, targets }: TriedDefinition, colours: Colours): string {
  const minutes = (window.endMs - window.startMs) / 60_000
  const lines = [`${application}, the last ${count(minutes, 'minute')}`]
  for (const warning of warnings) lines.push(colours.faint(`  ${warning}`))
  for (const { name, metrics, logs, checks = [] } of targets) {
    if (targets.length > 1) lines.push('', colours.strong(name))
    for (const metric of metrics) lines.push('', ...metricLines(metric, colours))
    for (const check of checks) lines.push('', ...checkLines(check, colours))
    if (logs === undefined) continue
    lines.push('', colours.strong('logs'))
    if (logs.baseline !== undefined) lines.push(...logLines('baseline', logs.baseline, colours))
    lines.push(...logLines('canary', logs.canary, colours))
  }
  return `${lines.join('\n')}\n`
}

function metricLines(
  { name, baseline, canary, exposure, isSameOnBothSides }: TriedMetric,
  colours: Colours,
): string[] {
  const scale = scaleOf([baseline, canary])
  const same = 'Both sides have the same query. Use a scope value in the query that differs between them.'
  return [
    colours.strong(name),
    ...(isSameOnBothSides ? [colours.bad(`  ${same}`)] : []),
    ...seriesLines('baseline', baseline, scale, colours),
    ...seriesLines('canary', canary, scale, colours),
    ...(exposure === undefined
      ? []
      : [
          ...seriesLines('exposure, baseline', exposure.baseline, scaleOf([exposure.baseline]), colours),
          ...seriesLines('exposure, canary', exposure.canary, scaleOf([exposure.canary]), colours),
        ]),
  ]
}

function checkLines({ name, rule, value, problem, queries }: CheckData, colours: Colours): string[] {
  return [
    colours.strong(`check ${name}`),
    problem === undefined ? `  ${rule} is ${value}` : colours.bad(`  ${problem}`),
    ...new Set([queries.baseline, queries.canary].map((query) => colours.faint(`    ${query}`))),
  ]
}

interface Scale {
  readonly min: number
  readonly max: number
}

/** Returns a common scale for both sides. */
function scaleOf(sides: readonly TriedSeries[]): Scale {
  const of = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null)
  return {
    min: Math.min(...of(sides.map(({ min }) => min))),
    max: Math.max(...of(sides.map(({ max }) => max))),
  }
}

function seriesLines(side: string, series: TriedSeries, scale: Scale, colours: Colours): string[] {
  const { state, reasons, warnings, query, points, steps, min, mean, max } = series
  const summary =
    points === 0
      ? state
      : `${points} of ${count(steps, 'step')}, min ${digits(min)}, mean ${digits(mean)}, max ${digits(max)}`
  return [
    `  ${side}: ${points === 0 ? colours.bad(summary) : summary}`,
    ...(points === 0 ? [] : [`    ${shapeText(series, scale)}`]),
    ...(state === 'empty' ? [colours.bad(`    ${NOTHING_THERE}`)] : []),
    ...reasons.map((reason) => colours.bad(`    ${reason}`)),
    ...warnings.map((warning) => colours.faint(`    ${warning}`)),
    colours.faint(`    ${query}`),
  ]
}

function shapeText({ shape }: TriedSeries, { min, max }: Scale): string {
  const height = (value: number): number =>
    max > min ? Math.min(BARS.length - 1, Math.floor(((value - min) / (max - min)) * BARS.length)) : 0
  return shape.map((value) => (value === null ? ' ' : BARS.charAt(height(value)))).join('')
}

function digits(value: number | null): string {
  return value === null ? '-' : String(Number(value.toPrecision(DIGITS)))
}

function logLines(
  side: string,
  { state, reasons, query, lines, sample }: TriedLines,
  colours: Colours,
): string[] {
  return [
    `  ${side}: ${state === 'failed' ? colours.bad(state) : count(lines, 'line')}`,
    ...(state === 'empty' ? [colours.faint(`    ${NOTHING_THERE}`)] : []),
    ...reasons.map((reason) => colours.bad(`    ${reason}`)),
    colours.faint(`    ${query}`),
    ...sample.map((line) => `    ${line}`),
  ]
}
