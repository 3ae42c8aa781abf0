import { z } from 'zod'

import { wholeAnswer } from '../answers/answer-reading.js'
import type { ConnectionSettings, SourceConnection, SourceRequest } from '../answers/source-connection.js'

const MS_PER_SECOND = 1000
/** A token that ends sooner is not used any more: requests take their time. */
const MARGIN_MS = 60_000
/** Of a token whose end is not told. */
const DEFAULT_SECONDS = 300

/** RFC 6749, section 5.1; managed identities write the number as a text. */
const Answer = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().optional() })

interface Token {
  readonly headers: Readonly<Record<string, string>>
  readonly untilMs: number
}

/**
 * Has a token for each request, asking for a new one when the last one is about to end, and once for all that wait for it. `makeRequest`
 * gives a sentence where it cannot be asked for.
 */
export function makeTokenAuthorization(
  connection: SourceConnection,
  makeRequest: () => SourceRequest | string,
  now: () => number,
): NonNullable<ConnectionSettings['authorize']> {
  let token: Token | undefined
  let asking: Promise<Token | string> | undefined
  const ask = async (deadline: Parameters<SourceConnection['ask']>[1]): Promise<Token | string> => {
    const request = makeRequest()
    if (typeof request === 'string') return `${connection.name}: ${request}`
    const askedMs = now()
    const reply = await connection.ask(request, deadline, wholeAnswer)
    if (!reply.isAnswered) return reply.problem
    const answer = Answer.safeParse(reply.answer).data
    if (answer === undefined) return `${connection.name}: the answer holds no access_token`
    const { access_token: value, expires_in: seconds = DEFAULT_SECONDS } = answer
    return { headers: { authorization: `Bearer ${value}` }, untilMs: askedMs + seconds * MS_PER_SECOND }
  }
  return async (deadline) => {
    if (token !== undefined && token.untilMs - MARGIN_MS > now()) return token.headers
    asking ??= ask(deadline).finally(() => (asking = undefined))
    const asked = await asking
    if (typeof asked === 'string') return asked
    token = asked
    return asked.headers
  }
}
