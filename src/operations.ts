import { analysisReads, analysisWrites } from './analysis/runs/analysis-operations.js'
import { showLookData, showLookReport, showRun } from './analysis/runs/show-run.js'
import { auditReads, auditWrites } from './audit/audit-operations.js'
import { readRunsChunk } from './events/read-runs.js'
import { recordEvents } from './events/record-events.js'
import { registryReads, registryWrites } from './events/registry-operations.js'
import { keepWebhook } from './events/relay-webhook.js'
import { gateReads, gateWrites } from './gates/gate-operations.js'
import { renderRun } from './http/analysis-report/render-run.js'
import {
  countMessages,
  leaseMessages,
  listMessages,
  purgeSettled,
  recordAttempt,
  releaseLeases,
  resendMessage,
} from './outbox/outbox-operations.js'
import type { KnownOperations } from './store/sqlite/service/serve-store.js'

/** Every operation of the store, of all parts of the service: what is not listed here, its threads do not find. */
export const operations: KnownOperations = {
  write: [
    recordEvents,
    keepWebhook,
    ...registryWrites,
    ...auditWrites,
    leaseMessages,
    releaseLeases,
    recordAttempt,
    resendMessage,
    purgeSettled,
    ...gateWrites,
    ...analysisWrites,
  ],
  read: [
    ...auditReads,
    ...registryReads,
    readRunsChunk,
    listMessages,
    countMessages,
    ...gateReads,
    ...analysisReads,
    showRun,
    showLookData,
    showLookReport,
    renderRun,
  ],
}
