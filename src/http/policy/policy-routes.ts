import type { Exchange } from '../exchange/exchange.js'
import { MethodNotAllowed } from '../exchange/error-body.js'
import { answerBareDocument, answerDataGet, answerDataPost } from './data-api.js'
import type { PolicyContext } from './policy-context.js'
import { answerStaticPolicy } from './static-policy.js'

/** One policy operation, found by path and method; `handler` is its label in the metrics. */
export interface PolicyRoute {
  readonly handler: string
  readonly answer: (context: PolicyContext, exchange: Exchange) => Promise<void>
}

const DATA_V1 = '/v1/data'
const DATA_V0 = '/v0/data'
const STATIC_POLICY = '/v1/staticPolicy/eval'

/**
 * The policy operation that a request is for, or undefined when its path is no policy path. Raises
 * `method_not_allowed` for a policy path with another method.
 */
export function findPolicyRoute(exchange: Pick<Exchange, 'target' | 'method'>): PolicyRoute | undefined {
  const { target, method } = exchange
  const { path } = target
  const dataV1 = below(path, DATA_V1)
  if (dataV1 !== undefined) return dataRoute(dataV1, path, method)
  if (path === STATIC_POLICY) {
    requireMethod(method, path, 'POST')
    return { handler: 'v1/staticPolicy', answer: answerStaticPolicy }
  }
  const dataV0 = below(path, DATA_V0)
  if (dataV0 !== undefined) {
    requireMethod(method, path, 'POST')
    return {
      handler: 'v0/data',
      answer: (context, exchange) => answerBareDocument(context, exchange, dataV0, 'data'),
    }
  }
  if (!isRootPost(exchange)) return undefined
  return {
    handler: 'index',
    answer: (context, exchange) => answerBareDocument(context, exchange, context.defaultDecision, 'default'),
  }
}

/** Whether a request is a `POST /`. */
export function isRootPost({ target, method }: Pick<Exchange, 'target' | 'method'>): boolean {
  return target.path === '/' && method === 'POST'
}

function dataRoute(rawPath: string, path: string, method: string): PolicyRoute {
  requireMethod(method, path, 'GET', 'POST')
  const answer = method === 'POST' ? answerDataPost : answerDataGet
  return { handler: 'v1/data', answer: (context, exchange) => answer(context, exchange, rawPath) }
}

/** The rest of a path below a prefix, without its slash; empty for the prefix itself. */
function below(path: string, prefix: string): string | undefined {
  if (!path.startsWith(prefix)) return undefined
  if (path.length === prefix.length) return ''
  return path[prefix.length] === '/' ? path.slice(prefix.length + 1) : undefined
}

function requireMethod(method: string, path: string, ...allowed: readonly string[]): void {
  if (!allowed.includes(method)) throw new MethodNotAllowed(method, path, allowed)
}
