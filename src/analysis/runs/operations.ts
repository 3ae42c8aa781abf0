import type { AnyOperation } from '../../store/ports/operation.js'
import type { Readers } from '../../store/ports/readers.js'
import type { Transaction } from '../../store/ports/transaction.js'
import { analysisReads as runReads, analysisWrites as runWrites } from './analysis-operations.js'
import { removeRunData } from './remove-old-data.js'
import { showLookData, showLookReport, showRun } from './show-run.js'

/** What the store can be asked of analyses. */
export const analysisReads: readonly AnyOperation<Readers>[] = [
  ...runReads,
  showRun,
  showLookData,
  showLookReport,
]
export const analysisWrites: readonly AnyOperation<Transaction>[] = [...runWrites, removeRunData]
