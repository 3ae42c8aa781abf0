import { collectRun } from '../../analysis/runs/show-run.js'
import type { ReadOperation } from '../../store/readers.js'
import { renderReport } from './report-page.js'

/** The report of a run as a page. It is drawn where the store is read, since hundreds of charts take their time. Raises `not_found`. */
export const renderRun: ReadOperation<number, string> = {
  name: 'analysis.render',
  apply: async (readers, id) => await renderReport(await collectRun(readers, id)),
}
