import { expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { guardRoutes } from '../../../src/http/pipeline/guarded-routes.js'
import type { Authenticate } from '../../../src/http/pipeline/authenticate.js'
import type { BoundDirectRoute } from '../../../src/http/pipeline/route.js'
import { FakeExchange } from '../../support/fake-exchange.js'
import { examplePath, unansweredRoutes } from '../../support/served-routes.js'

const TOO_LATE = new AppError('unavailable', 'ask again later', { retryAfterSeconds: 5 })
const STRANGER = new AppError('forbidden', 'not for you')
const direct = unansweredRoutes().filter((route): route is BoundDirectRoute => route.kind === 'direct')

async function request(
  route: BoundDirectRoute,
  authenticate: Authenticate,
): Promise<{ failure: unknown; answered: number }> {
  let answered = 0
  const [guarded] = guardRoutes([{ ...route, answerOn: () => void (answered += 1) }], {
    requests: authenticate,
  })
  const exchange = new FakeExchange({ method: route.method, url: examplePath(route.path) })
  exchange.refusal = TOO_LATE
  try {
    if (guarded?.kind === 'direct') await guarded.answer(exchange)
  } catch (failure) {
    return { failure, answered }
  }
  return { failure: undefined, answered }
}

/** A request that waits for its turn. */
class QueueingExchange extends FakeExchange {
  readonly #turn = Promise.withResolvers<undefined>()
  readonly #asked = Promise.withResolvers<undefined>()
  /** Resolves when the request waits for its turn. */
  readonly waiting: Promise<unknown> = this.#asked.promise

  override takeTurn(bytes: number): Promise<void> {
    void super.takeTurn(bytes)
    this.#asked.resolve(undefined)
    return this.#turn.promise
  }

  goOn(): void {
    this.#turn.resolve(undefined)
  }
}

const named = (routes: readonly BoundDirectRoute[]): [string, BoundDirectRoute][] =>
  routes.map((route) => [`${route.method} ${route.path}`, route])

/** Calls a route; `answered` counts its answers so far. */
function begin(route: BoundDirectRoute): {
  readonly exchange: QueueingExchange
  readonly answered: () => number
  readonly answer: Promise<void> | undefined
} {
  let answered = 0
  const bound = { ...route, answerOn: () => void (answered += 1) }
  const exchange = new QueueingExchange({ method: route.method, url: examplePath(route.path) })
  const [guarded] = guardRoutes([bound], { requests: () => Promise.resolve() })
  const answer = guarded?.kind === 'direct' ? guarded.answer(exchange) : undefined
  return { exchange, answered: () => answered, answer }
}

test.each(named(direct.filter(({ isProbe, body }) => isProbe !== true && body === undefined)))(
  '%s is answered when it is its turn',
  async (_, route) => {
    const { exchange, answered, answer } = begin(route)
    await exchange.waiting
    expect({ turns: exchange.turns, answered: answered() }).toEqual({ turns: [0], answered: 0 })
    exchange.goOn()
    await answer
    expect(answered()).toBe(1)
  },
)

test.each(named(direct.filter(({ isProbe }) => isProbe === true)))(
  '%s, which tells how the service is, waits for no turn',
  async (_, route) => {
    const { exchange, answered, answer } = begin(route)
    await answer
    expect({ turns: exchange.turns, answered: answered() }).toEqual({ turns: [], answered: 1 })
  },
)

test.each(named(direct))(
  '%s, when it would be answered too late, is refused once it is known that its caller may ask, and not answered',
  async (_, route) => {
    expect(await request(route, () => Promise.resolve())).toEqual({ failure: TOO_LATE, answered: 0 })
    const toStranger = await request(route, () => Promise.reject(STRANGER))
    expect(toStranger).toEqual({ failure: route.roles === 'anyone' ? TOO_LATE : STRANGER, answered: 0 })
  },
)
