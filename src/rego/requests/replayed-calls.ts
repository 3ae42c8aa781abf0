import { AppError } from '../../errors/app-error.js'
import { HTTP_SEND, LOOKUP } from '../builtins/http/http-send.js'
import { PARSE_MODULE } from '../builtins/runtime.js'
import { callKey } from '../builtins/shared/recorded-calls.js'
import type { CallResult, RecordedCalls } from '../builtins/shared/recorded-calls.js'
import { isArray } from '../builtins/shared/operands.js'
import { parseRegoText } from '../values/parse-text.js'
import { printGoJson } from '../values/print-go-json.js'
import { RegoNumber, RegoObject, RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { readNdBuiltinCache, shownArguments } from './nd-builtin-cache.js'
import type { DecisionRequests, PolicyRequests } from './policy-requests.js'

const NS_PER_MS = 1_000_000n

/** The calls of a repeated decision. */
export interface ReplayedCalls {
  /** Answers from the record, without requests. */
  readonly requests: Pick<PolicyRequests, 'begin'>
  readonly recorded: RecordedCalls
  /** The time of the decision in milliseconds since the epoch, if its policies used it. */
  readonly nowMs: number | undefined
}

/**
 * Returns the calls of an `nd_builtin_cache` (JSON) from the decision log. `requests` parses
 * modules, which the cache leaves out. Raises `invalid` for other JSON.
 */
export function replayCalls(json: string, requests: Pick<PolicyRequests, 'begin'>): ReplayedCalls {
  const kept = readNdBuiltinCache(json)
  const replies = kept.get(HTTP_SEND) ?? new Map<string, RegoValue>()
  const now = kept.get('time.now_ns')?.get('[]')
  const ns = now instanceof RegoNumber ? now.toBigInt() : undefined
  const replay: DecisionRequests['answer'] = ({ key, name, args }, recorded) => {
    const reply = name === HTTP_SEND ? replies.get(shownArguments(args)) : undefined
    if (reply === undefined) return Promise.reject(notKept(name, args))
    recorded.set(key, { name, args, result: resultOf(reply) })
    return Promise.resolve()
  }
  return {
    recorded: recordedOf(kept),
    nowMs: ns === undefined ? undefined : Number(ns / NS_PER_MS),
    requests: {
      begin: (decidedMs, gone) => {
        const { answer, end } = requests.begin(decidedMs, gone)
        return {
          answer: (call, recorded) => (call.name === PARSE_MODULE ? answer : replay)(call, recorded),
          end,
        }
      },
    },
  }
}

function recordedOf(kept: ReturnType<typeof readNdBuiltinCache>): RecordedCalls {
  const recorded: RecordedCalls = new Map()
  for (const [name, calls] of kept) {
    if (name === HTTP_SEND) continue
    for (const [text, value] of calls) {
      const args = parseRegoText(text)
      if (!isArray(args)) throw new AppError('invalid', `${name}: ${text} is no list of arguments`)
      // JSON has no sets.
      const result = { value: name === LOOKUP && isArray(value) ? new RegoSet(value) : value }
      recorded.set(callKey(name, args), { name, args, result })
    }
  }
  return recorded
}

/** The body is parsed again as the policy requests it. */
function resultOf(reply: RegoValue): CallResult {
  if (!(reply instanceof RegoObject)) return { value: reply }
  const error = reply.get('error')
  if (!(error instanceof RegoObject))
    return { value: new RegoObject(reply.entries.filter(([name]) => name !== 'body')) }
  const message = error.get('message')
  const isNetwork = error.get('code') === 'eval_http_send_network_error'
  return {
    failure: {
      cause: isNetwork ? 'network' : 'internal',
      message: typeof message === 'string' ? message : '',
    },
  }
}

function notKept(name: string, args: readonly RegoValue[]): AppError {
  return new AppError(
    'evaluation_failed',
    `${name} was not kept with these arguments: ${name === HTTP_SEND ? shownArguments(args) : printGoJson(args)}`,
    { code: 'evaluation_request_refused' },
  )
}
