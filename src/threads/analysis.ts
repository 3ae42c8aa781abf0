import { parentPort, workerData } from 'node:worker_threads'

import type { EvaluateRule, RuleAnswer } from '../analysis/runs/checks/check.js'
import { evaluateInterval } from '../analysis/runs/evaluate-interval.js'
import { backtest } from '../analysis/runs/backtest/backtest.js'
import { tryQueries } from '../analysis/runs/intervals/try-queries.js'
import { makeSources } from '../analysis/sources/make-sources.js'
import { readSourceCredentials } from '../config/sections/analysis-sources.js'
import { readSecrets } from '../config/read-secrets.js'
import { toError } from '../errors/app-error.js'
import { PLATFORM_CREDENTIALS } from '../lib/outbound/address-policy.js'
import { makeOutboundClient } from '../lib/outbound/outbound-client.js'
import { wait } from '../lib/outbound/back-off.js'
import type {
  IntervalThreadOutput,
  IntervalThreadInput,
  IntervalThreadOptions,
} from '../main/threads/interval-thread.js'

// Entry point of the thread that judges intervals, which may use a whole core for seconds.
if (parentPort !== null) {
  const port = parentPort
  const { analysis } = workerData as IntervalThreadOptions
  // A monotonic clock, so that setting the clock does not change the remaining time.
  const steadyNow = (): number => performance.timeOrigin + performance.now()
  const answer = (message: IntervalThreadOutput): void => port.postMessage(message)
  const sources = makeSources(
    readSourceCredentials(analysis.sources, readSecrets({ analysis }, process.env)),
    {
      client: makeOutboundClient(analysis),
      // The operator configures these addresses; templates cannot affect them.
      signInClient: makeOutboundClient({ ...analysis, allowedAddresses: PLATFORM_CREDENTIALS }),
      now: steadyNow,
      timeOfDay: Date.now,
      wait,
      random: Math.random,
      reportDefect: (error) => answer({ type: 'defect', error: error.stack ?? error.message }),
    },
  )
  const rules = new Map<number, (answer: RuleAnswer) => void>()
  const askRule: EvaluateRule = (rule, input) =>
    new Promise((resolve) => {
      const id = rules.size
      rules.set(id, resolve)
      answer({ type: 'rule', id, rule, input })
    })
  port.on('message', (input: IntervalThreadInput) => {
    if (input.type === 'ruleResult') {
      rules.get(input.id)?.(input.answer)
      return
    }
    const work =
      input.type === 'judge'
        ? evaluateInterval(input.request, sources, steadyNow, askRule)
        : input.type === 'backtest'
          ? backtest(input.task, sources, steadyNow)
          : tryQueries(input.task, sources, steadyNow, askRule)
    work.then(
      (result) => answer({ type: 'done', result }),
      (raw: unknown) => answer({ type: 'failed', message: toError(raw).message, stack: toError(raw).stack }),
    )
  })
}
