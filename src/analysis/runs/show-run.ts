import type { StoredRun } from '../../store/ports/analysis-store.js'
import { AppError } from '../../errors/app-error.js'
import type { ReadOperation, Readers } from '../../store/ports/readers.js'
import { unknownRun } from './analysis-operations.js'
import { joinPlan, partsOf } from './definitions/kept-plan.js'
import type { LookData } from './looks/look-data.js'
import type { LookReport } from './looks/look-report.js'
import { unpackData } from './looks/pack-look.js'
import type { RunPlan } from './definitions/plan.js'
import { redactSecrets } from '../../lib/redaction/redact.js'

/** A run without its plan and its looks. */
export interface RunSummary {
  readonly id: number
  readonly application: string
  readonly executionId: string | undefined
  readonly owner: string | undefined
  readonly state: StoredRun['state']
  readonly score: number | undefined
  readonly verdict: StoredRun['verdict']
  readonly message: string
  readonly errors: readonly string[]
  readonly looks: number
  readonly looksDone: number
  readonly startedAt: string
  readonly nextLookAt: string | undefined
  readonly finishedAt: string | undefined
  /** When its looks were removed, being old; their verdict stays. */
  readonly dataRemovedAt: string | undefined
}

/** One interval of a run, in short. */
export interface LookSummary {
  readonly look: number
  readonly at: string
  readonly score: number
  readonly verdict: LookReport['verdict']
  readonly reason: string
}

/** A run with its plan, its intervals, and the whole report of the last one with what was fetched for it. */
export interface ShownRun extends RunSummary {
  readonly plan: RunPlan
  readonly intervals: readonly LookSummary[]
  readonly report: LookReport | undefined
  readonly data: LookData | undefined
}

/** A run as lists show it. */
export function summariseRun(run: StoredRun): RunSummary {
  const { id, application, executionId, owner, state, score, verdict, message, errors, looks, looksDone } =
    run
  return {
    ...{ id, application, executionId, owner, state, score, verdict, message, errors, looks, looksDone },
    startedAt: toText(run.startedMs),
    nextLookAt: state === 'RUNNING' ? toText(run.nextLookMs) : undefined,
    finishedAt: run.finishedMs === undefined ? undefined : toText(run.finishedMs),
    dataRemovedAt: run.dataRemovedMs === undefined ? undefined : toText(run.dataRemovedMs),
  }
}

/** A run with all that its report shows, but for the lines of its logs. Raises `not_found`. */
export async function collectRun({ analysis }: Readers, id: number): Promise<ShownRun> {
  const run = await analysis.run(id)
  if (run === undefined) throw unknownRun(id)
  const looks = await analysis.looks(id)
  const last = await analysis.look(id, run.looksDone)
  return {
    ...summariseRun(run),
    plan: await shownPlan(analysis, run.plan),
    intervals: looks.map(({ look, atMs, report }) => {
      const { score, verdict, reason } = JSON.parse(report) as LookReport
      return { look, at: toText(atMs), score, verdict, reason }
    }),
    report: last === undefined ? undefined : (JSON.parse(last.report) as LookReport),
    data: last === undefined ? undefined : unpackData(last.data),
  }
}

/** A plan without secrets; what its services have in common is looked through once. */
async function shownPlan(analysis: Readers['analysis'], plan: string): Promise<RunPlan> {
  const parts = await analysis.planParts(partsOf(plan))
  const shown = [...parts].map(([sha256, body]) => [sha256, JSON.stringify(shownDocument(body))] as const)
  return joinPlan(JSON.stringify(shownDocument(plan)), new Map(shown))
}

/** A run as JSON text, without what was fetched. Raises `not_found`. */
export const showRun: ReadOperation<number, string> = {
  name: 'analysis.show',
  apply: async (readers, id) => JSON.stringify({ ...(await collectRun(readers, id)), data: undefined }),
}

/** What a look fetched, as gzip over JSON: all but the lines of logs, or those. */
export interface LookDataRequest {
  readonly id: number
  /** The last one where none is named. */
  readonly look: number | undefined
  readonly part: 'data' | 'lines'
}

/** Gives what a look fetched. Raises `not_found`. */
export const showLookData: ReadOperation<LookDataRequest, Uint8Array> = {
  name: 'analysis.look-data',
  apply: async ({ analysis }, { id, look: asked, part }) => {
    const run = await analysis.run(id)
    if (run === undefined) throw unknownRun(id)
    const look = asked ?? run.looksDone
    const found = await analysis.look(id, look)
    if (found !== undefined) return found[part]
    throw missingLook(run, look)
  },
}

/** The report of one look as JSON text. Raises `not_found`. */
export const showLookReport: ReadOperation<{ readonly id: number; readonly look: number }, string> = {
  name: 'analysis.look-report',
  apply: async ({ analysis }, { id, look }) => {
    const found = await analysis.look(id, look)
    if (found !== undefined) return found.report
    const run = await analysis.run(id)
    throw run === undefined ? unknownRun(id) : missingLook(run, look)
  },
}

function missingLook({ id, looks, looksDone, dataRemovedMs }: StoredRun, look: number): AppError {
  const isLeftOut = look > 0 && look < looksDone
  const why =
    dataRemovedMs !== undefined
      ? `what it fetched and reported was removed at ${toText(dataRemovedMs)}, being older than analysis.maxAgeDays`
      : isLeftOut
        ? 'the run was late and left it out'
        : `it has taken ${looksDone} of ${looks}`
  return new AppError('not_found', `analysis ${id} has no look ${look}: ${why}`)
}

function toText(ms: number): string {
  return new Date(ms).toISOString()
}

/**
 * A plan or a definition, given as JSON text, as people see it: without secrets that stand in queries, templates and scopes. Its
 * numbers stay, for weights are named by their groups.
 */
export function shownDocument(json: string): unknown {
  return JSON.parse(redactSecrets(Buffer.from(json), { keepsNumbers: true }).text.toString())
}
