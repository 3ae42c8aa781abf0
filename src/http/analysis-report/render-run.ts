import { collectRun } from '../../analysis/runs/show-run.js'
import { partOnDemand } from '../../lib/on-demand.js'
import type { ReadOperation } from '../../store/ports/readers.js'

const reportPage = partOnDemand(() => import('./report-page.js'))
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

/** Renders the chart of a run as PNG. Raises `not_found`. */
export const pictureOfRun: ReadOperation<number, Uint8Array> = {
  name: 'analysis.picture',
  apply: async (readers, id) => {
    const { drawRun } = await runPicture()
    return drawRun(await collectRun(readers, id))
  },
}
