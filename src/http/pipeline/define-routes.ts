import type { z } from 'zod'

import { toAppError } from '../../errors/app-error.js'
import type { AppError } from '../../errors/app-error.js'
import type { PathParameter } from '../input/path-parameter.js'
import { parseQuery } from '../input/parse-query.js'
import type { Call, DirectRow, Route, RouteRow, SentRequest } from './route.js'

/**
 * Functions that create the rows of a route list. `D` is the type of the handlers' dependencies.
 */
export interface DefineRoutes<D> {
  /** Creates a row that the web application serves. */
  readonly route: <P = object, Q extends z.ZodType = z.ZodUndefined, B = undefined>(
    row: RouteRow<D, P, Q, B>,
  ) => Route<D>
  /** Creates a row of a direct route. */
  readonly directRoute: (row: DirectRow<D>) => Route<D>
}

/** Returns the functions that create rows for handlers with dependencies `D`. */
export function routesOf<D>(): DefineRoutes<D> {
  return {
    route: (row) => ({
      description: row,
      bind: (deps) => {
        const { refused } = row
        return {
          ...row,
          kind: 'application',
          respond: (sent) =>
            withFailureAnswer(row, sent, deps, async () => row.answer(await readCall(row, sent, deps), deps)),
          refused:
            refused &&
            ((refusal, sent) => withFailureAnswer(row, sent, deps, () => refused(refusal, sent, deps))),
        }
      },
    }),
    directRoute: (row) => ({
      description: row,
      bind: (deps) => ({
        ...row,
        kind: 'direct',
        errorHeaders: row.errorHeaders ?? [],
        answerOn: (exchange, rest) => row.answerOn(deps, exchange, rest),
      }),
    }),
  }
}

/** Calls `answer`. If it fails, returns the row's own failure response, if any. */
async function withFailureAnswer<D>(
  { failed }: { readonly failed?: Failed<D> | undefined },
  sent: SentRequest,
  deps: D,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await answer()
  } catch (raw) {
    if (failed === undefined) throw raw
    const failure = toAppError(raw)
    sent.exchange.failure = failure
    return await failed(failure, sent, deps)
  }
}

type Failed<D> = (failure: AppError, sent: SentRequest, deps: D) => Response | Promise<Response>

/**
 * Reads the path first, since a missing resource needs no credential, and the body last, since it
 * may be long.
 */
async function readCall<D, P, Q extends z.ZodType, B>(
  row: RouteRow<D, P, Q, B>,
  sent: SentRequest,
  deps: D,
): Promise<Call<P, z.output<Q>, B>> {
  const { exchange, prefers } = sent
  const params = readParams(row, sent) as P
  await row.credential?.check({ exchange, params }, deps)
  const query = row.query && parseQuery(row.query, sent.query)
  const body = await row.body?.read(exchange, deps)
  return { exchange, params, query: query as z.output<Q>, body: body as B, prefers }
}

function readParams(
  { params = {} }: { readonly params?: Readonly<Record<string, PathParameter<unknown>>> },
  sent: SentRequest,
): object {
  const values: Record<string, unknown> = {}
  for (const name of Object.keys(params)) values[name] = params[name]?.read(sent.params[name] ?? '')
  return values
}
