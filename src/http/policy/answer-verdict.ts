import type { Exchange } from '../exchange.js'
import type { Decision } from './decision.js'
import { allowBody, denialBody } from './denial-body.js'

/** Decides by the reasons against an input, records it, and answers: 200 without any, 401 with them. */
export function answerVerdict(
  exchange: Exchange,
  decision: Decision,
  input: Uint8Array,
  findReasons: () => readonly string[],
): void {
  const { reasons } = decision.decide(input, () => {
    const found = findReasons()
    const outcome = found.length > 0 ? 'deny' : 'allow'
    return { outcome, reasons: found, result: JSON.stringify(found) } as const
  })
  if (reasons.length > 0) exchange.send(401, denialBody(reasons, decision.id))
  else exchange.send(200, allowBody(decision.id))
}
