import { z } from 'zod'

import { wholeAnswer } from '../answers/answer-reading.js'
import type { ConnectionSettings, SourceConnection, SourceRequest } from '../answers/source-connection.js'
import { makeSharedAuthorization } from './shared-authorization.js'

const MS_PER_SECOND = 1000
/** Of a token whose end is not told. */
const DEFAULT_SECONDS = 300

/** RFC 6749, section 5.1; managed identities write the number as a text. */
const Answer = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().optional() })

/** A bearer token for each request, asked for before the last one ends. `makeRequest` gives a sentence where it cannot be asked for. */
export function makeTokenAuthorization(
  connection: SourceConnection,
  makeRequest: () => SourceRequest | string,
  now: () => number,
): NonNullable<ConnectionSettings['authorize']> {
  return makeSharedAuthorization(async (deadline) => {
    const request = makeRequest()
    if (typeof request === 'string') return `${connection.name}: ${request}`
    const askedMs = now()
    const reply = await connection.ask(request, deadline, wholeAnswer)
    if (!reply.isAnswered) return reply.problem
    const answer = Answer.safeParse(reply.answer).data
    if (answer === undefined) return `${connection.name}: the answer holds no access_token`
    const { access_token: value, expires_in: seconds = DEFAULT_SECONDS } = answer
    const headers = { authorization: `Bearer ${value}` }
    return { sign: () => headers, untilMs: askedMs + seconds * MS_PER_SECOND }
  }, now)
}
