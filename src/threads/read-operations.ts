import { analysisReads } from '../analysis/runs/operations.js'
import { auditReads } from '../audit/audit-operations.js'
import { exceptionReads } from '../enforcement/exceptions/exception-operations.js'
import { readExecutionFacts } from '../events/execution-facts.js'
import { eventReads } from '../events/record-events.js'
import { registryReads } from '../events/registry/registry-operations.js'
import { gateReads } from '../gates/work/gate-operations.js'
import {
  pictureOfRun,
  renderComparison,
  renderTrial,
  renderRun,
  renderRunBody,
} from '../http/analysis-report/render-run.js'
import { notificationReads } from '../notifications/notification-operations.js'
import { outboxReads } from '../outbox/outbox-operations.js'
import { operationRegistry } from '../store/ports/operation.js'
import type { Readers } from '../store/ports/readers.js'

/** All read operations of the service, for threads and in-process runs. */
export const readOperations = operationRegistry<Readers>([
  ...auditReads,
  ...eventReads,
  readExecutionFacts,
  ...registryReads,
  ...outboxReads,
  ...notificationReads,
  ...gateReads,
  ...exceptionReads,
  ...analysisReads,
  renderRun,
  renderRunBody,
  renderComparison,
  renderTrial,
  pictureOfRun,
])
