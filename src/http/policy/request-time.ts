import { AppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import type { PolicyContext } from './decision.js'

const MS_PER_SECOND = 1000

/** True if a request with several evaluations has used up its time. */
export function isOverTime(
  { maxRequestMs }: Pick<PolicyContext, 'maxRequestMs'>,
  { startedAt }: Pick<Exchange, 'startedAt'>,
): boolean {
  return performance.now() - startedAt > maxRequestMs
}

/** The error of an evaluation that was not started, because its request took too long. */
export function overTime({ maxRequestMs }: Pick<PolicyContext, 'maxRequestMs'>): AppError {
  return new AppError(
    'unavailable',
    `not evaluated: the request took over ${maxRequestMs / MS_PER_SECOND} seconds. Send fewer inputs in a request.`,
    { code: 'request_timeout' },
  )
}
