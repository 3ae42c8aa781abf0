import type { InstanceState } from '../../store/ports/gate-instance.js'

/** Status words of the contract, section 2.2. */
export type ContractStatus = 'not activated' | 'activated' | 'approved' | 'rejected'

const CONTRACT_WORDS: Readonly<Record<InstanceState, ContractStatus>> = {
  not_activated: 'not activated',
  activated: 'activated',
  approved: 'approved',
  rejected: 'rejected',
  canceled: 'rejected',
  expired: 'rejected',
}

/**
 * Maps a state to one of the contract's four words. Canceled and expired instances are not
 * approved, so they are rejected.
 */
export function contractStatus(state: InstanceState): ContractStatus {
  return CONTRACT_WORDS[state]
}

/** Maps a state to the words of the orchestrator's plugins, which also have `canceled`. */
export function pluginStatus(state: InstanceState): ContractStatus | 'canceled' {
  return state === 'canceled' ? 'canceled' : contractStatus(state)
}
