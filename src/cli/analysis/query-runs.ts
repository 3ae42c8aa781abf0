import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'

import { warningsOf } from '../../analysis/runs/definitions/plan.js'
import type { RunSummary, ShownRun } from '../../analysis/runs/show-run.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { makeColours } from '../output/colours.js'
import { localTime } from '../output/local-time.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceClient } from '../session/service-client.js'
import { moreText } from '../session/list-options.js'
import { scopeFlags, suggestValues } from '../session/suggest-values.js'
import { serviceAddress } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import { outJson } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { reportText } from './report-text.js'
import { shownScore } from '../../analysis/runs/intervals/interval-report.js'
import { runSummary } from '../../analysis/runs/run-summary.js'
import type { ListOptions, ShowOptions, StartOptions } from './run-options.js'
import { AppError } from '../../errors/app-error.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import { printable } from '../../lib/text/shown-text.js'

const POLL_MS = 2000

/** Partial schemas: the service has the same release, so the contents match its types. */
const Summary = z
  .looseObject({ id: z.number(), state: z.string() })
  .transform((value) => value as unknown as RunSummary)
const Shown = z
  .looseObject({ id: z.number(), plan: z.looseObject({}) })
  .transform((value) => value as unknown as ShownRun)
const List = z.object({ runs: z.array(Summary), nextCursor: z.string().optional() })
const Started = z.object({ id: z.number() })

/** Prints runs as a table or JSON. */
export async function listRuns(options: ListOptions, terminal: Terminal): Promise<ExitCode> {
  const client = await makeServiceClient(options, terminal)
  const { application, execution, state, since, until, limit, cursor } = options
  const query = { application, executionId: execution, state, since, until, limit, cursor }
  const list = await client.request(List, { path: '/analysis', query })
  if (options.format === 'json') outJson(terminal, list)
  else {
    const table = list.runs.length === 0 ? 'no analyses\n' : runTable(list.runs, terminal.columns)
    terminal.out(table + moreText(list.nextCursor))
  }
  const queried = {
    path: '/analysis',
    entries: 'runs',
    filters: scopeFlags(options),
    found: list.runs.length,
  }
  await suggestValues(queried, options, client, terminal)
  return EXIT.fine
}

/** Prints a run, or a summary for chat. Returns 1 if it failed or needs a review. */
export async function showRun(id: string, options: ShowOptions, terminal: Terminal): Promise<ExitCode> {
  const client = await makeServiceClient(options, terminal)
  const run = await fetchRun(client, id)
  if (options.markdown !== true) return print(run, options, terminal)
  const { url } = await serviceAddress(options, terminal)
  terminal.out(runSummary(run, `${url}/analysis/${run.id}`))
  return exitCodeOf(run)
}

/** Starts a run, and waits for its end with `--wait`. */
export async function startRun(
  application: string,
  options: StartOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const client = await makeServiceClient(options, terminal)
  const registering = client.request(Started, {
    method: 'POST',
    path: '/analysis',
    body: toRegistration(application, options),
  })
  const { id } = await registering.catch(async (raw: unknown) => {
    throw await withSuggestedApplication(raw, application, client)
  })
  if (options.wait !== true) {
    if (options.format === 'json') outJson(terminal, { id })
    else
      terminal.out(
        printable(`Started analysis ${id} of ${application}. Show it with tidegate analysis show ${id}.\n`),
      )
    return EXIT.fine
  }
  return print(await untilEnded(client, String(id), terminal), options, terminal)
}
export async function cancelRun(id: string, options: ServiceOptions, terminal: Terminal): Promise<ExitCode> {
  const client = await makeServiceClient(options, terminal)
  const run = await client.request(Summary, {
    method: 'POST',
    path: `/analysis/${encodeURIComponent(id)}/cancel`,
  })
  if (options.format === 'json') outJson(terminal, run)
  else
    terminal.out(
      printable(`analysis ${run.id} of ${run.application}: ${run.state.toLowerCase()}, ${run.message}\n`),
    )
  return EXIT.fine
}

function toRegistration(
  application: string,
  { lifetime, interval, pass, marginal, execution, canaryStart, baselineStart }: StartOptions,
): object {
  const starts = {
    canaryStartTimeMs: millisecondsOf(canaryStart),
    baselineStartTimeMs: millisecondsOf(baselineStart),
  }
  const isStarted = canaryStart !== undefined || baselineStart !== undefined
  return {
    application,
    executionId: execution,
    ...(isStarted && { canaryDeployments: [starts] }),
    canaryConfig: {
      lifetimeMinutes: lifetime,
      interval,
      canaryHealthCheckHandler: { minimumCanaryResultScore: marginal },
      canarySuccessCriteria: { canaryResultScore: pass },
    },
  }
}

function millisecondsOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time)
}

/** Fetches a run with its report. */
export async function fetchRun(client: ServiceClient, id: string): Promise<ShownRun> {
  return await client.request(Shown, { path: `/analysis/${encodeURIComponent(id)}` })
}

async function untilEnded(client: ServiceClient, id: string, terminal: Terminal): Promise<ShownRun> {
  let shown = ''
  for (;;) {
    const run = await fetchRun(client, id)
    if (run.state !== 'RUNNING') return run
    const progress = `${run.intervalsDone} of ${run.intervalCount} intervals, next at ${run.nextIntervalAt === undefined ? '-' : localTime(run.nextIntervalAt)}: ${run.message}\n`
    if (progress !== shown) terminal.err(progress)
    shown = progress
    await setTimeout(POLL_MS)
  }
}

function print(run: ShownRun, options: ServiceOptions, terminal: Terminal): ExitCode {
  if (options.format === 'json') outJson(terminal, run)
  else
    terminal.out(
      headOf(run) +
        (run.report === undefined ? '' : reportText(run.report, makeColours(terminal.hasColours))),
    )
  return exitCodeOf(run)
}

function exitCodeOf({ state, verdict }: ShownRun): ExitCode {
  return state === 'RUNNING' || verdict === 'Success' ? EXIT.fine : EXIT.denied
}

function headOf(run: ShownRun): string {
  const rows = [
    ['analysis', String(run.id)],
    ['application', run.application],
    ['state', run.state.toLowerCase()],
    ['intervals', `${run.intervalsDone} of ${run.intervalCount}`],
    ['score', shownScore(run.score, run.report)],
    ['verdict', run.verdict ?? '-'],
    ['why', run.message],
    ...run.errors.map((error) => ['error', error]),
    ...warningsOf(run.plan).map((warning) => ['warning', warning]),
  ]
  return `${textTable(rows)}\n`
}

function runTable(runs: readonly RunSummary[], columns: number | undefined): string {
  const rows = runs.map(
    ({ id, application, state, intervalsDone, intervalCount, verdict, startedAt, message, ...run }) => [
      String(id),
      application,
      state.toLowerCase(),
      `${intervalsDone}/${intervalCount}`,
      run.score === undefined || run.unscored !== undefined ? '–' : String(run.score),
      verdict ?? '-',
      localTime(startedAt),
      message,
    ],
  )
  return textTable(
    [['id', 'application', 'state', 'intervals', 'score', 'verdict', 'started', 'why'], ...rows],
    [0, 4],
    columns,
  )
}

const Answer = z.object({ applications: z.array(z.looseObject({ name: z.string() })) })

/**
 * Adds the most similar application to an error about an unknown one, if the caller may list
 * applications.
 */
async function withSuggestedApplication(
  raw: unknown,
  written: string,
  client: ServiceClient,
): Promise<unknown> {
  if (!(raw instanceof AppError) || raw.kind !== 'not_found') return raw
  // Starting analyses does not require permission to list applications.
  const known = await client.request(Answer, { path: '/applications' }).catch(() => ({ applications: [] }))
  const nearest = nearestName(
    written,
    known.applications.map(({ name }) => name),
  )
  if (nearest === undefined) return raw
  const { message, code, details } = raw
  return new AppError('not_found', `${message} Did you mean ${nearest}?`, { code, details, cause: raw })
}
