import type { Gate } from './gate.js'

/** A gate as lists show it. */
export function gateView({ createdMs, changedMs, ...gate }: Gate): object {
  return {
    ...gate,
    createdAt: new Date(createdMs).toISOString(),
    changedAt: new Date(changedMs).toISOString(),
  }
}
