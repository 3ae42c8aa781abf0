import { collectRun } from '../../analysis/runs/show-run.js'
import { partOnDemand } from '../../lib/on-demand.js'
import type { ReadOperation } from '../../store/ports/readers.js'

const reportPage = partOnDemand(() => import('./report-page.js'))
const runPicture = partOnDemand(() => import('./run-picture.js'))

/**
 * The report of a run as a page. It is drawn where the store is read, since hundreds of charts take their time; what draws it is loaded for the
 * first. Raises `not_found`.
 */
export const renderRun: ReadOperation<number, string> = {
  name: 'analysis.render',
  apply: async (readers, id) => {
    const { renderReport } = await reportPage()
    return await renderReport(await collectRun(readers, id))
  },
}

/** The picture of a run, as PNG. Raises `not_found`. */
export const pictureOfRun: ReadOperation<number, Uint8Array> = {
  name: 'analysis.picture',
  apply: async (readers, id) => {
    const { drawRun } = await runPicture()
    return drawRun(await collectRun(readers, id))
  },
}
