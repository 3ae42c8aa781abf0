import type { AnyOperation } from '../../store/ports/operation.js'
import type { Readers } from '../../store/ports/readers.js'
import type { Transaction } from '../../store/ports/transaction.js'
import { acknowledgeInstance } from '../reviewing/acknowledge.js'
import { cancelForOrchestrator } from '../reviewing/cancel-for-orchestrator.js'
import { findGateOfStage } from '../definitions/find-stage-gate.js'
import {
  addStageConnector,
  changeStageGate,
  saveStageGate,
  setStageApprovers,
} from '../stages/save-stage-gate.js'
import { changeGate, createGate, removeGate, saveGateChanges } from '../definitions/declare-gates.js'
import { recordReload } from '../definitions/record-reload.js'
import { decideByPolicy } from './decide-by-policy.js'
import { expireInstances } from '../instances/expire-instances.js'
import { keepEvidence } from './keep-evidence.js'
import { listInstances } from '../instances/list-instances.js'
import { remindOfInstances } from '../instances/reminders.js'
import { removeEnded } from '../instances/remove-ended.js'
import { recordIgnoredReview } from '../reviewing/ignored-reviews.js'
import { reserveInstance } from '../triggering/reserve-instance.js'
import { resumeWork } from '../resume-work.js'
import { giveDelegation, listDelegations, revokeDelegation } from '../instances/delegations.js'
import { reviewInstance } from '../reviewing/review-instance.js'
import { triggerGate } from '../triggering/trigger-gate.js'

/** Write operations of gates. */
export const gateWrites: readonly AnyOperation<Transaction>[] = [
  saveGateChanges,
  recordReload,
  createGate,
  changeGate,
  removeGate,
  saveStageGate,
  changeStageGate,
  setStageApprovers,
  addStageConnector,
  reserveInstance,
  triggerGate,
  reviewInstance,
  cancelForOrchestrator,
  recordIgnoredReview,
  keepEvidence,
  decideByPolicy,
  expireInstances,
  remindOfInstances,
  giveDelegation,
  revokeDelegation,
  acknowledgeInstance,
  removeEnded,
  resumeWork,
]

/** Read operations of gates. */
export const gateReads: readonly AnyOperation<Readers>[] = [listInstances, findGateOfStage, listDelegations]
