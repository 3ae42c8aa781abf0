import type { AnyOperation } from '../../store/ports/operation.js'
import type { Readers } from '../../store/ports/readers.js'
import type { Transaction } from '../../store/ports/transaction.js'
import {
  cancelRun,
  deleteDefinition,
  findDefinition,
  findPlannedRun,
  findRun,
  listDefinitions,
  listLogTemplates,
  listRuns,
  noteIntervalAttempts,
  recordInterval,
  saveDefinition,
  startRun,
} from './analysis-operations.js'
import { listPrecision, metricsOfRun, saveFeedback } from './feedback.js'
import { showCanaryStatus } from './canary-status.js'
import { checkTemplate, makeRun } from './plan-run.js'
import { removeRunData } from './remove-old-data.js'
import { deleteTemplate, findTemplate, listTemplates, saveTemplate } from './template-operations.js'
import { listUsualSpreads } from './intervals/usual-spreads.js'
import { showIntervalData, showIntervalReport, showRun } from './show-run.js'

/** The operations of analyses that write. */
export const analysisWrites: readonly AnyOperation<Transaction>[] = [
  saveDefinition,
  deleteDefinition,
  saveTemplate,
  deleteTemplate,
  startRun,
  noteIntervalAttempts,
  recordInterval,
  cancelRun,
  saveFeedback,
  removeRunData,
]

/** The operations of analyses that only read. */
export const analysisReads: readonly AnyOperation<Readers>[] = [
  listRuns,
  findRun,
  findPlannedRun,
  listDefinitions,
  findDefinition,
  findTemplate,
  listTemplates,
  listLogTemplates,
  listUsualSpreads,
  checkTemplate,
  makeRun,
  showCanaryStatus,
  showRun,
  showIntervalData,
  showIntervalReport,
  metricsOfRun,
  listPrecision,
]
