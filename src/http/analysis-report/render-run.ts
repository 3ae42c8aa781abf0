import { collectRun } from '../../analysis/runs/show-run.js'
import type { RunSummary } from '../../analysis/runs/show-run.js'
import type { TriedJudgement } from '../../analysis/runs/intervals/try-queries.js'
import { partOnDemand } from '../../lib/on-demand.js'
import { printable } from '../../lib/text/shown-text.js'
import type { RunState, Verdict } from '../../store/ports/analysis-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'

const reportPage = partOnDemand(() => import('./report-page.js'))
const comparison = partOnDemand(() => import('./comparison.js'))
const runPicture = partOnDemand(() => import('./run-picture.js'))

/**
 * Renders the report of a run as HTML. It runs on the reading thread, since hundreds of charts are
 * slow to draw, and loads its code on first use. Raises `not_found`.
 */
export const renderRun: ReadOperation<number, string> = {
  name: 'analysis.render',
  apply: async (readers, id) => {
    const { renderReport } = await reportPage()
    return await renderReport(await collectRun(readers, id))
  },
}

/** Renders the report of a run as a part of a page of the console. Raises `not_found`. */
export const renderRunBody: ReadOperation<number, RunBody> = {
  name: 'analysis.render-body',
  apply: async (readers, id) => {
    const { renderReportBody } = await reportPage()
    const run = await collectRun(readers, id)
    const { application, executionId, state, verdict, feedback } = run
    return { application, executionId, state, verdict, feedback, body: await renderReportBody(run) }
  },
}

/** A report without the head of its page. */
export interface RunBody {
  readonly application: string
  readonly executionId: string | undefined
  readonly state: RunState
  readonly verdict: Verdict | undefined
  readonly feedback: RunSummary['feedback']
  /** HTML. */
  readonly body: string
}

/** Renders two runs next to each other as a part of a page of the console. Raises `not_found`. */
export const renderComparison: ReadOperation<RunPair, string> = {
  name: 'analysis.render-comparison',
  apply: async (readers, { first, second, prefix }) => {
    const { comparisonBody } = await comparison()
    const runs = await Promise.all([collectRun(readers, first), collectRun(readers, second)])
    return printable((await comparisonBody(...runs, prefix)).toString())
  },
}

/** Renders a judgement that is not stored as a part of a page of the console. */
export const renderTrial: ReadOperation<TriedJudgement, string> = {
  name: 'analysis.render-trial',
  apply: async (_, judged) => {
    const { trialBody } = await reportPage()
    return printable((await trialBody(judged)).toString())
  },
}

/** The numbers of two runs, and the prefix of links. */
export interface RunPair {
  readonly first: number
  readonly second: number
  readonly prefix: string
}

/** Renders the chart of a run as PNG. Raises `not_found`. */
export const pictureOfRun: ReadOperation<number, Uint8Array> = {
  name: 'analysis.picture',
  apply: async (readers, id) => {
    const { drawRun } = await runPicture()
    return drawRun(await collectRun(readers, id))
  },
}
