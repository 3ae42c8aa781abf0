import type { AskOptions, Evaluations } from '../../pdp/slow/evaluations.js'
import type { Exchange } from '../exchange.js'
import type { Decision } from './decision.js'
import { allowBody, denialBody } from './denial-body.js'

/** Decides by the reasons against an input, records it, and answers: 200 without any, 401 with them. */
export async function answerVerdict(
  exchange: Exchange,
  decision: Decision,
  input: Uint8Array,
  findReasons: (
    evaluations: Evaluations,
    options: AskOptions,
  ) => readonly string[] | Promise<readonly string[]>,
): Promise<void> {
  const decided = decision.decide(input, findReasons, (reasons) => {
    const outcome = reasons.length > 0 ? 'deny' : 'allow'
    return { outcome, reasons, result: JSON.stringify(reasons) } as const
  })
  const { reasons } = decided instanceof Promise ? await decided : decided
  if (reasons.length > 0) exchange.send(401, denialBody(reasons, decision.id))
  else exchange.send(200, allowBody(decision.id))
}
