import type { AnyOperation } from '../store/operation.js'
import type { Readers } from '../store/readers.js'
import type { Transaction } from '../store/transaction.js'
import { acknowledgeInstance } from './acknowledge-instance.js'
import { cancelForOrchestrator } from './cancel-for-orchestrator.js'
import { changeGate, createGate, removeGate, saveGateChanges } from './declare-gates.js'
import { decideByPolicy } from './decide-by-policy.js'
import { expireInstances } from './expire-instances.js'
import { keepEvidence } from './keep-evidence.js'
import { listInstances } from './list-instances.js'
import { removeEnded } from './remove-ended.js'
import { recordIgnoredReview } from './record-ignored-review.js'
import { reserveInstance } from './reserve-instance.js'
import { resumeWork } from './resume-work.js'
import { reviewInstance } from './review-instance.js'
import { triggerGate } from './trigger-gate.js'

/** The operations of gates that write. */
export const gateWrites: readonly AnyOperation<Transaction>[] = [
  saveGateChanges,
  createGate,
  changeGate,
  removeGate,
  reserveInstance,
  triggerGate,
  reviewInstance,
  cancelForOrchestrator,
  recordIgnoredReview,
  keepEvidence,
  decideByPolicy,
  expireInstances,
  acknowledgeInstance,
  removeEnded,
  resumeWork,
]

/** The operations of gates that only read. */
export const gateReads: readonly AnyOperation<Readers>[] = [listInstances]
