import type { InstanceState } from '../../store/ports/gate-instance.js'

/** The words of the contract, section 2.2. */
export type ContractStatus = 'not activated' | 'activated' | 'approved' | 'rejected'

const CONTRACT_WORDS: Readonly<Record<InstanceState, ContractStatus>> = {
  not_activated: 'not activated',
  activated: 'activated',
  approved: 'approved',
  rejected: 'rejected',
  canceled: 'rejected',
  expired: 'rejected',
}

/** A state in the four words of the contract: what was canceled or has expired is not approved, so it is rejected. */
export function contractStatus(state: InstanceState): ContractStatus {
  return CONTRACT_WORDS[state]
}

/** A state in the words that the orchestrator's plugins know: theirs has `canceled` too, with one l. */
export function pluginStatus(state: InstanceState): ContractStatus | 'canceled' {
  return state === 'canceled' ? 'canceled' : contractStatus(state)
}
