import type { GateInstance } from './gate-instance.js'

/** The state of an instance for people: `it was approved by ana at 2026-01-31T12:00:00.000Z (looks good)`. */
export function asSentence({ state, comment, decidedBy, decidedMs }: GateInstance): string {
  if (state === 'not_activated') return 'it has not been triggered'
  if (state === 'activated') return 'it waits for decisions'
  const who = decidedBy === undefined ? '' : ` by ${decidedBy}`
  const when = decidedMs === undefined ? '' : ` at ${new Date(decidedMs).toISOString()}`
  return `it was ${state}${who}${when}${comment === '' ? '' : ` (${comment})`}`
}
