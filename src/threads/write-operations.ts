import { analysisWrites } from '../analysis/runs/operations.js'
import { auditWrites } from '../audit/audit-operations.js'
import { distributionWrites } from '../distribution/record-activation.js'
import { exceptionWrites } from '../enforcement/exceptions/exception-operations.js'
import { eventWrites } from '../events/record-events.js'
import { registryWrites } from '../events/registry/registry-operations.js'
import { gateWrites } from '../gates/work/gate-operations.js'
import { notificationWrites } from '../notifications/notification-operations.js'
import { outboxWrites } from '../outbox/outbox-operations.js'
import { operationRegistry } from '../store/ports/operation.js'
import type { Transaction } from '../store/ports/transaction.js'

/** All write operations of the service, for threads and in-process runs. */
export const writeOperations = operationRegistry<Transaction>([
  ...auditWrites,
  ...eventWrites,
  ...registryWrites,
  ...outboxWrites,
  ...notificationWrites,
  ...gateWrites,
  ...exceptionWrites,
  ...analysisWrites,
  ...distributionWrites,
])
