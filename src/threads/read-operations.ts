import { analysisReads } from '../analysis/runs/analysis-operations.js'
import { showLookData, showLookReport, showRun } from '../analysis/runs/show-run.js'
import { auditReads } from '../audit/audit-operations.js'
import { readRunsChunk } from '../events/read-runs.js'
import { registryReads } from '../events/registry/registry-operations.js'
import { gateReads } from '../gates/work/gate-operations.js'
import { renderRun } from '../http/analysis-report/report-page.js'
import { countMessages, listMessages, showMessages } from '../outbox/outbox-operations.js'
import type { AnyOperation } from '../store/ports/operation.js'
import type { Readers } from '../store/ports/readers.js'

/** Every operation that only reads, of all parts of the service: what is not listed here, the reading thread does not find. */
export const readOperations: readonly AnyOperation<Readers>[] = [
  ...auditReads,
  ...registryReads,
  readRunsChunk,
  listMessages,
  showMessages,
  countMessages,
  ...gateReads,
  ...analysisReads,
  showRun,
  showLookData,
  showLookReport,
  renderRun,
]
