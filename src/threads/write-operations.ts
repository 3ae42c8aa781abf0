import { analysisWrites } from '../analysis/runs/analysis-operations.js'
import { removeRunData } from '../analysis/runs/remove-old-data.js'
import { auditWrites } from '../audit/audit-operations.js'
import { recordEvents } from '../events/record-events.js'
import { registryWrites } from '../events/registry/registry-operations.js'
import { keepWebhook } from '../events/relay-webhook.js'
import { gateWrites } from '../gates/work/gate-operations.js'
import {
  leaseMessages,
  purgeSettled,
  recordAttempt,
  releaseLeases,
  resendMessage,
} from '../outbox/outbox-operations.js'
import type { AnyOperation } from '../store/ports/operation.js'
import type { Transaction } from '../store/ports/transaction.js'

/** Every operation that writes, of all parts of the service: what is not listed here, the writing thread does not find. */
export const writeOperations: readonly AnyOperation<Transaction>[] = [
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
  removeRunData,
]
